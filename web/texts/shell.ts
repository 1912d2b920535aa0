/** Texts of the frames around pages, the navigation and the error pages. */

export const signIn = 'Sign in'

// Failure

export const goHome = 'Go home'
export const unknownForm = 'Unknown form'
export const goBackReloadPage = 'Go back, reload the page and try again.'
export const accessDenied = 'Access denied'
export const askOwnerOrMaintainer = 'Ask an owner or a maintainer for a higher role.'
export const pageNotFound = 'Page not found'
export const theUrlMayBeWrong =
  'The URL may be wrong, the page may have been moved or deleted, or you may not have permission to view the page.'
export const tooManyRequests = 'Too many requests'
export const waitMomentThenReloadPage = 'Wait a moment, then reload the page.'
export const theServerIsBusy = 'The server is busy'
export const reloadPageInMoment = 'Reload the page in a moment.'
export const tooManyIpAddresses = 'Too many IP addresses'
export const yourAccountIsInUse =
  'Your account is in use from too many IP addresses. Try again later, or use one of the other addresses.'
export const somethingWentWrong = 'Something went wrong'
export const anErrorOccurredOnServer =
  'An error occurred on the server. Reload the page. If the error persists, contact your administrator.'
export const signedInUsersHaveHigherLimit = ' Signed-in users have a higher limit.'

// Layout, messages

export const instanceIsReadOnly = 'This instance is read-only. You can browse and clone, but nothing can be changed.'
export const dismissMessage = 'Dismiss message'

// Layout, instance

export const skipToContent = 'Skip to content'
export const searchOrPress = 'Search or press /'
export const main = 'Main'
export const newItem = 'New…'

// Layout, planning

export const list = 'List'
export const planning = 'Planning'
export const deleted = 'Deleted'

// Layout, project

export const breadcrumb = 'Breadcrumb'

// Layout, settings

export const general = 'General'
