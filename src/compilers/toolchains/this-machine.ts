/** Platform and architecture of this machine: `linux x64`. */
export const THIS_MACHINE = `${process.platform} ${process.arch}`;
