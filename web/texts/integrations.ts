/** Texts of webhooks and integrations. */
import { plural } from './common.ts'

export const triggerEvents = 'Trigger events'
export const leaveEmptyToKeepCurrentValue = 'Leave empty to keep the current value.'
export const addHook = 'Add hook'
export const sendTestEvent = 'Send test event'
export const inherited = 'inherited'

// Hooks, hook form

export const wildcardPattern = 'Wildcard pattern'
export const regularExpression = 'Regular expression'
export const url = 'URL'
export const secretToken = 'Secret token'
export const sentWithEachRequestSo = 'Sent with each request so that the receiver can verify the sender.'
export const signingToken = 'Signing token'
export const signsEachRequestFormatWhsec = 'Signs each request. Format: whsec_ followed by 24 to 64 bytes in base64.'
export const branchFilterForPushEvents = 'Branch filter for push events'
export const branchPattern = 'Branch pattern'
export const leaveEmptyForAllBranches = 'Leave empty for all branches.'
export const customHeaders = 'Custom headers'
export const sentWithEveryDelivery = 'Sent with every delivery.'
export const urlVariables = 'URL variables'
export const nameInUrlIsReplaced = '{name} in the URL is replaced by the value. Values are never shown.'
export const customPayloadTemplate = 'Custom payload template'
export const leaveEmptyForDefaultPayload = 'Leave empty for the default payload.'
export const enableSslVerification = 'Enable SSL verification'
export const saveHook = 'Save hook'

// Hooks, pair rows

export const anExistingNameIsOverwritten = 'An existing name is overwritten.'
export const nameNumber = (n: number, label: string) => `Name ${n}: ${label}`
export const valueNumber = (n: number, label: string) => `Value ${n}: ${label}`

// Hooks, list

export const sendEventsToUrlOfYours = 'Send events to a URL of yours.'
export const noHooksYet = 'No hooks yet'
export const hooks = 'Hooks'
export const noEvents = 'no events'

// Hooks, one

export const allHooks = 'All hooks'
export const pausedUntilTime = 'paused until {time}'
export const deliveriesAndResponsesAreKept = 'Deliveries and responses are kept for a few days.'
export const timeTook = '{time} · took {executionDuration} s'
export const redeliver = 'Redeliver'
export const sendsAllEvents = 'Sends all events of this period again, in order.'
export const request = 'Request'
export const response = 'Response'
export const empty = 'Empty.'
export const allStatuses = 'All statuses'
export const successful = 'Successful'
export const clientError4xx = 'Client error (4xx)'
export const serverError5xxNoResponse = 'Server error (5xx, no response)'
export const event = 'Event'
export const deleteThisHookAndLog = 'Delete this hook and the log of deliveries?'
export const editHook = 'Edit hook'
export const deliveries = 'Deliveries'
export const noDeliveries = 'No deliveries'
export const redeliverMissedEvents = 'Redeliver missed events'
export const sinceUtc = 'Since (UTC)'
export const untilUtc = 'Until (UTC)'
export const hookSaved = 'Hook saved.'
export const testEventSent = 'Test event sent.'
export const testEventSentSeeResponseBelow = 'Test event sent. See the response below.'
export const redeliveredResponseStatus = (responseStatus: number) => `Redelivered. Response status: ${responseStatus}.`
export const eventsDeliveriesQueued = (events: number) =>
  `${events} ${plural(events, 'delivery', 'deliveries')} queued.`
export const deliveryNumber = (id: number) => `Delivery ${id}`
export const responseStatus = 'Response status'
export const sent = 'Sent'
export const requestHeaders = 'Request headers'
export const requestBody = 'Request body'
export const responseHeaders = 'Response headers'
export const responseBody = 'Response body'

// Services, list

export const connectOtherServicesToReceive = 'Connect other services to receive events or to look up data.'
export const updatedTime = 'updated {time}'
export const availableIntegrations = 'Available integrations'

// Services, one

export const allIntegrations = 'All integrations'
export const useInheritedSettings = 'Use inherited settings'
export const enableComments = 'Enable comments'
export const replaceTheseSettingsWithInheritedSettings = 'Replace these settings with the inherited settings?'
export const disableTitleAndDeleteSettings = (title: string) => `Disable ${title} and delete the settings?`
export const inheritedSettingsAreNowUsed = 'Inherited settings are now used.'
export const testSuccessful = 'Test successful.'
