/** Texts of snippets. */

export const editSnippet = 'Edit snippet'
export const editTitle = (title: string) => `Edit ${title}`
export const noSnippetsYet = 'No snippets yet'

// Snippets

export const byPersonTime = 'by {person}, {time}'
export const addAnotherFile = 'Add another file'
export const saveSnippet = 'Save snippet'
export const removeThisFile = 'Remove this file'
export const fileCount = (files: number) => `${files} files`
export const deleteTitle = (title: string) => `Delete ${title}?`
export const contentOfPath = (path: string) => `Content of ${path}`
export const privateOnlyProjectMembers = 'Private: only project members, or only you for personal snippets'
export const fileNumber = (at: number) => `File ${at}`
export const fileName = 'File name'
export const createSnippet = 'Create a snippet'
export const yours = 'Yours'
export const useSnippetsToSharePieces = 'Use snippets to share pieces of code and text.'
