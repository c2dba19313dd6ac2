/** No test contacts the official compiler host or a public endpoint. Download tests use a mirror on 127.0.0.1. */
export const NO_DOWNLOADS = {
  FULLMATCH_COMPILERS_DOWNLOAD_URL: 'off',
  FULLMATCH_HEALTH_SUPPORTED_CHAINS: 'false',
};
