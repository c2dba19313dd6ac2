/** No test asks the official host for compilers. Those of downloads name a mirror on 127.0.0.1. */
export const NO_DOWNLOADS = { FULLMATCH_COMPILERS_DOWNLOAD_URL: 'off' };
