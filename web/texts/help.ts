/** Texts of the help pages and the keyboard shortcuts. */

// Keys

export const findFileInProject = 'Find a file in a project'
export const ctrlEnter = 'Ctrl Enter'
export const submitForm = 'Submit the form'

// Help, search form

export const searchDocumentation = 'Search the documentation'

// Help

export const contactSupport = 'Contact support'
export const tryOtherWords = 'Try other words.'
export const openApiSpec = 'OpenAPI spec'
export const mortiseRevisionApiVersion = (revision: string, version: string) =>
  `Mortise ${revision}, API version ${version}.`
export const results = 'Results'
export const api = 'API'
export const everythingOnThesePages = 'Everything on these pages is also available to programs.'
export const thisInstance = 'This instance'
