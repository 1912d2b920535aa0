/** Texts of the pages for sign-in, sign-up, terms and OAuth. */
import type { Scope } from '../../api/credentials.ts'

export const signIn = 'Sign in'
export const password = 'Password'
export const username = 'Username'
export const email = 'Email'
export const checkYourEmail = 'Check your email'
export const formExpired = 'This form has expired. Go back, reload the page and try again.'
export const retry = 'Try again'
export const readOnly = 'Read-only'
export const instanceIsReadOnly = 'This instance is read-only.'
export const nothingCanBeChanged = 'Nothing can be changed while the instance is read-only.'
export const signInRequired = 'Sign in again.'

// Sign-in

export const usernameOrEmail = 'Username or email'
export const noAccountYet = 'No account yet? {link}'
export const createAnAccount = 'Create an account'
export const forgotYourPassword = 'Forgot your password?'
export const help = 'Help'
export const signInWithPasskey = 'Sign in with a passkey'
export const twoFactorAuthentication = 'Two-factor authentication'
export const authenticatorOrRecoveryCode = 'Authenticator code or recovery code'
export const passwordSignInDisabled = 'Password sign-in is disabled on this instance.'
export const accountBlocked = 'Your account has been blocked.'
export const contactAnAdministrator = 'Contact an administrator of this instance.'
export const accountPendingApproval = 'Your account is pending approval'
export const pendingApprovalWeWillEmail = "Your account is pending approval. We'll email you when it's been reviewed."
export const invalidLoginOrPassword = 'Invalid login or password.'
export const passwordSignInIsDisabled = 'Password sign-in is disabled.'
export const twoFactorRequired = 'Two-factor authentication required.'
export const invalidCode = 'Invalid code, or the code was already used.'
export const passkeyNotAccepted = 'Passkey not accepted. Try again, or use another sign-in method.'
export const tooManyFailedAttempts = 'Too many failed attempts. Try again in a minute.'
export const tooManyFailedAttemptsUsePasskey = 'Too many failed attempts. Try again later, or use a passkey.'
export const emailNotConfirmed = 'Your email address is not confirmed.'

// Email addresses and passwords

export const confirmYourEmail = 'Confirm your email address'
export const followLinkInConfirmationEmail = 'Follow the link in the confirmation email, then sign in.'
export const noConfirmationEmail =
  "Didn't get the email, or the link has expired? {link} to confirm your email address."
export const resetYourPassword = 'Reset your password'
export const resetPassword = 'Reset password'
export const sendResetLink = 'Send reset link'
export const resetLinkSentIfAccountExists =
  'If an account with this email address exists, you will receive a password reset link.'
export const changeYourPassword = 'Change your password'
export const newPassword = 'New password'
export const confirmNewPassword = 'Confirm new password'
export const changePassword = 'Change password'
export const passwordChanged = 'Password changed'
export const passwordExpired = 'Your password has expired.'
export const passwordExpiredChooseNew = 'Your password has expired. Choose a new password, then sign in.'
export const passwordFault = (fault: string) => `The password ${fault}.`
export const tooManyAttemptsTryInMinute = 'Too many attempts. Try again in a minute.'
export const passwordsDoNotMatch = 'Passwords do not match.'
export const newPasswordMustBeDifferent = 'The new password must be different.'
export const enterValidEmail = 'Enter a valid email address.'
export const signedOutOfAllSessions = 'You have been signed out of all sessions.'
export const addEmailToAccount = (address: string, account: string) =>
  `Add ${address} to the account ${account}? Do not confirm if this is not your account.`
export const confirm = 'Confirm'
export const emailConfirmed = 'Email address confirmed'
export const linkNoLongerValid = 'This link is no longer valid'
export const linkUsedOrExpired =
  'The link has been used or has expired, or the email address of the account has changed.'
export const requestNewLink = 'Request a new link'

// Sign-up

export const name = 'Name'
export const correctErrorsBelow = 'Please correct the errors below.'
export const createAccount = 'Create account'
export const alreadyHaveAnAccount = 'Already have an account? {link}'
export const iAcceptTheTerms = 'I accept the {terms}'
export const terms = 'terms'
export const theTerms = 'The terms'
export const tooManyAttempts = 'Too many attempts. Try again later.'
export const signUpDisabled = 'Sign-up disabled'
export const signUpDisabledContactAdministrator =
  'Sign-up is disabled on this instance. Contact an administrator to get an account.'
export const weSentAnEmail = (address: string, next: string) => `We sent an email to ${address}. ${next}`
export const followLinkThenSignIn = 'Follow the link in the email, then sign in.'
export const followLinkWithinThreeDays =
  'Follow the link in the email within three days. Until then you can sign in without confirmation.'
export const administratorMustApprove = 'An administrator must approve your account before you can sign in.'

// Terms

export const noTermsOfService = 'No terms of service'
export const continueToHome = 'Continue'
export const termsOfService = 'Terms of service'
export const acceptTermsOfService = 'Accept the terms of service'
export const termsHaveChanged = 'The terms have changed. Read them again.'
export const accept = 'Accept'
export const declineAndSignOut = 'Decline and sign out'

// OAuth

export const authorizeApplication = (application: string) => `Authorize ${application}?`
export const applicationRequestsPermission = 'You are signed in as {user}. The application requests permission to:'
export const applicationCreatedByUser = 'This application was created by the user {user}, not by an administrator.'
export const youWillBeRedirected = (url: string) => `You will be redirected to ${url}`
export const authorize = 'Authorize'
export const deny = 'Deny'
export const invalidAuthorizationRequest = 'Invalid authorization request'
export const unknownApplicationOrRedirectUri = 'The application is unknown, or the redirect URI is not registered.'

export const permissions: Record<Scope, string> = {
  api: 'full access to the API on your behalf, including code and settings',
  read_api: 'read-only access to everything you can access',
  read_user: 'read your profile',
  read_repository: 'read your repositories',
  write_repository: 'read and write your repositories',
  read_registry: 'read your container images',
  sudo: 'act as any other user, if you are an administrator',
  openid: 'authenticate you with OpenID Connect',
  profile: 'read your public profile',
  email: 'read your email address',
}
