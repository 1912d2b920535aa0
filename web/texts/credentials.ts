/** Texts of access tokens, deploy tokens and applications. */

export const cloneAndFetchReadRepository = 'Clone and fetch (read_repository)'
export const scopes = 'Scopes'
export const createApplication = 'Create application'
export const renewSecret = 'Renew secret'
export const callbackUrls = 'Callback URLs'
export const oneUrlPerLine = 'One URL per line.'
export const confidentialApplicationCanKeep = 'Confidential: the application can keep its secret private'
export const newApplication = 'New application'
export const noApplications = 'No applications'
export const yourApplications = 'Your applications'
export const renewSecretCurrentSecretStops = 'Renew the secret? The current secret stops working immediately.'
export const applicationSecret = 'Application secret'

// Deploy tokens

export const createDeployToken = 'Create deploy token'
export const pushWriteRepository = 'Push (write_repository)'
export const deployTokens = 'Deploy tokens'
export const giveScriptsAndServersAccess = 'Give scripts and servers access to the repository over HTTP.'
export const newDeployToken = 'New deploy token'
export const asUser = (username: string, expiresAt: string) => `as ${username}${expiresAt}`
export const expiresOnSuffix = (expiresAt: string) => ` · expires on ${expiresAt}`
export const revokeName = (name: string) => `Revoke “${name}”?`

// Resource tokens

export const accessTokensActAsBot = (scope: string) =>
  `Access tokens act as a bot member of this ${scope}, independent of any user account.`

// Tokens

export const createdTime = 'created {time} ·'
export const lastUsedTime = 'last used {time}'
export const rotate = 'Rotate'
export const fullAccessToApiApi = 'Full access to the API (api)'
export const readOnlyAccessToApi = 'Read-only access to the API (read_api)'
export const readYourUserAccountReadUser = 'Read your user account (read_user)'
export const cloneFetchAndPushWriteRepository = 'Clone, fetch and push (write_repository)'
export const newToken = 'New token'
export const forExampleBackupScript = 'For example “backup script”.'
export const noLaterThan = (latest: string) => `No later than ${latest}.`
export const noActiveTokens = 'No active tokens'
export const activeTokens = 'Active tokens'
export const expiresOn = (expiresAt: string) => `expires on ${expiresAt}`
export const neverExpires = 'never expires'
export const rotateThisTokenCurrentToken = 'Rotate this token? The current token stops working immediately.'
export const revokeTokenNamed = (name: string) =>
  `Revoke “${name}”? Applications that use this token lose access immediately.`

// Profile, own applications

export const verifyYourIdentityWithOpen = 'Verify your identity with OpenID Connect (openid)'
export const readYourPublicProfileProfile = 'Read your public profile (profile)'
export const readYourEmailAddressEmail = 'Read your email address (email)'
export const deleteApplicationNamed = (applicationName: string) =>
  `Delete “${applicationName}”? All access granted to this application is revoked immediately.`

// Profile, applications

export const theAdministratorHasDisabledNew =
  'The administrator has disabled new applications. Existing applications keep working.'
export const authorizedTime = 'authorized {time}'
export const lastUsedTimeSuffix = ', last used {time}'
export const oauthApplicationsThatYouManage = 'OAuth applications that you manage.'
export const authorizedApplications = 'Authorized applications'
export const applicationsThatCanAccessYourAccount = 'Applications that can access your account.'
export const noAuthorizedApplications = 'No authorized applications'
export const passwordSignIn = 'Password sign-in'
export const revokeAccessForThisApplication = 'Revoke access for this application?'

// Profile, personal access tokens

export const personalAccessTokens = 'Personal access tokens'
export const usePersonalAccessTokens = 'Use personal access tokens for the API and for git over HTTP.'
export const actAsAnyUserSudo = 'Act as any user (sudo)'

// Admin, applications

export const instanceWideOauthApplications = 'Instance-wide OAuth applications.'
export const deleteThisApplication = 'Delete this application?'
