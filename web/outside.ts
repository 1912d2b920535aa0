/** The target of a link whose URL a user wrote: always a web URL. A host alone is enough. */
export const outside = (address: string): string =>
  /^(?:https?|ftp):\/\//i.test(address) ? address : `http://${address}`
