/** Where a link leads whose address people wrote: the web, whatever they wrote. A host may stand alone. */
export const outside = (address: string): string =>
  /^(?:https?|ftp):\/\//i.test(address) ? address : `http://${address}`
