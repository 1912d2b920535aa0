/**
 * The URL of a page of a project or a group; `owner` is the URL of the latter. The dash keeps page names apart from
 * paths.
 */
export const pageBelow = (owner: string, page: string): string => `${owner}/-/${page}`
