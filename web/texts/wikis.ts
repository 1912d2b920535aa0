/** Texts of wikis. */

export const wikiPages = 'Wiki pages'
export const newPage = 'New page'
export const thisWikiIsEmpty = 'This wiki is empty'

// Wikis, compare

export const fromFromToTo = 'From {from} to {to}'
export const compareSelectedVersions = 'Compare selected versions'
export const leftColumnFromRightColumnTo = 'Left column: from. Right column: to.'
export const fromVersion = (id: string) => `From ${id}`
export const toVersion = (id: string) => `To ${id}`
export const noMessage = 'No message'

// Wikis, parts

export const savePage = 'Save page'
export const allPages = 'All pages'
export const useSlashToCreateSubpage = 'Use a slash to create a subpage: guides/install'
export const noPagesYet = 'No pages yet'

// Wikis, path

export const youAreViewingVersionQuery = 'You are viewing version {query}. <link>View latest version</link>'
export const restoreThisVersion = 'Restore this version'
export const deletePage = 'Delete page'
export const page = 'Page'
export const view = 'View'
export const deletePageTitle = (title: string) => `Delete the page ${title}?`
export const pageSaved = (title: string) => `Page ${title} saved`
export const pageDeleted = (title: string) => `Page ${title} deleted`
export const versionRestored = 'Version restored'
export const thisPageDoesNotExist = 'This page does not exist'
export const thisWikiIsEmptyCreate = 'This wiki is empty. Create the first page.'
export const thisPageDoesNotExistSentence = 'This page does not exist.'

// Wikis, pages

export const historyOfWiki = 'History of the wiki'
export const noChangesYet = 'No changes in the last days'
export const undoChange = (message: string) => `Undo: ${message}`
export const undoHint =
  'A change can be undone as long as the pages of the change have not changed again. Deleted pages come back this way.'
export const branchRemoved = 'Branch deleted'
export const createHomePage = 'Create the home page'
export const historyLink = 'history'
export const morePages = (pages: number) => `${pages} more pages. Use search to find them.`
