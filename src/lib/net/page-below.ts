/** The address of a page of a project or a group; `owner` is its own address. The dash keeps pages apart from names. */
export const pageBelow = (owner: string, page: string): string => `${owner}/-/${page}`
