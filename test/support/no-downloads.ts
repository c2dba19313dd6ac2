/** No test asks the official host for compilers, or a public endpoint for its health. Those of downloads name a mirror on 127.0.0.1. */
export const NO_DOWNLOADS = {
  FULLMATCH_COMPILERS_DOWNLOAD_URL: 'off',
  FULLMATCH_HEALTH_SUPPORTED_CHAINS: 'false',
};
