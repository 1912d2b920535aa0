/** Texts of the settings of a user, and of passkeys. */
import { plural } from './common.ts'

export const lastUsedTime = 'last used {time}'
export const laptop = 'Laptop'
export const keys = 'Keys'
export const currentPassword = 'Current password'

// Profile, passkeys

export const addedTime = 'added {time} ·'
export const removePasskey = 'Remove passkey'
export const yourBrowserDoesNotSupport = 'Your browser does not support passkeys, or JavaScript is disabled.'
export const addPasskey = 'Add passkey'
export const passkeys = 'Passkeys'
export const useYourPhoneComputer =
  'Use your phone, computer or security key to confirm your sign-in, or to sign in without a password.'
export const editName = (name: string) => `Edit ${name}`
export const addAPasskey = 'Add a passkey'
export const passkeyName = 'Passkey name'

// Profile, active sessions

export const devicesAndBrowsers = 'Devices and browsers that are signed in to your account.'
export const currentSession = 'current session'
export const userAgentSignedInTime = '{userAgent} · signed in {time}'
export const lastUsedTimeSuffix = ', last used {time}'
export const unknownIpAddress = 'Unknown IP address'

// Profile, emails

export const commitsWithTheseEmailAddresses = 'Commits with these email addresses are linked to your account.'
export const addEmailHeading = 'Add an email'
export const addEmail = 'Add email'
export const confirmed = 'confirmed'
export const primaryEmail = 'primary email'
export const unconfirmedFollowLinkInConfirmationEmail = 'unconfirmed: follow the link in the confirmation email'
export const removeEmail = (email: string) => `Remove ${email}?`

// Profile, gpg keys

export const commitsSignedWithTheseKeys = 'Commits signed with these keys are marked as verified.'
export const partAddedTime = '{part} · added {time}'
export const addGpgKey = 'Add GPG key'
export const pasteOutputOfGpgArmorExport = 'Paste the output of gpg --armor --export.'
export const noGpgKeysYet = 'No GPG keys yet'
export const keyNumber = (id: number) => `Key ${id}`
export const revokeThisKeyCommitsSigned = 'Revoke this key? Commits signed with this key are no longer verified.'
export const deleteThisKey = 'Delete this key?'

// Profile

export const saveProfile = 'Save profile'
export const setStatus = 'Set status'
export const pngJpegGifOrWeb = 'PNG, JPEG, GIF or WebP, at most 200 KiB.'
export const bio = 'Bio'
export const pronouns = 'Pronouns'
export const jobTitle = 'Job title'
export const organization = 'Organization'
export const location = 'Location'
export const website = 'Website'
export const publicEmail = 'Public email'
export const shownOnYourPublicProfile = 'Shown on your public profile. Must be one of your confirmed email addresses.'
export const shownNextToYourName = 'Shown next to your name.'
export const busy = 'Busy'
export const profileSaved = 'Profile saved.'
export const statusSaved = 'Status saved.'

// Profile, keys

export const useSshKeysToPush = 'Use SSH keys to push and pull without a password.'
export const generateKeyWithSshKeygen =
  'Generate a key with <code>ssh-keygen -t ed25519</code>, then paste the content of <code>id_ed25519.pub</code>.'
export const keyAddedTime = '{key} · added {time} ·'
export const expiresTime = '· expires {time}'
export const authenticationSigning = 'Authentication & signing'
export const authenticationOnly = 'Authentication only'
export const signingOnly = 'Signing only'
export const addSshKey = 'Add SSH key'
export const usageType = 'Usage type'
export const noSshKeysYet = 'No SSH keys yet'
export const deleteKeyTitle = (title: string) => `Delete the key “${title}”?`

// Profile, notifications

export const customEvents = 'Custom events'
export const participateThreadsYouHaveParticipatedIn = 'Participate: threads you have participated in'
export const watchAllActivity = 'Watch: all activity'
export const onMentionCommentsThatMentionYou = 'On mention: comments that mention you'
export const customParticipationAndEventsSelectedBelow = 'Custom: participation and the events selected below'
export const emailNotifications = 'Email notifications'
export const notificationEmail = 'Notification email'
export const notifyMeAboutMyOwnActivity = 'Notify me about my own activity'

// Profile, password

export const changingPasswordSignsYouOut = 'Changing the password signs you out of all sessions.'
export const changePassword = 'Change password'
export const minimum8Characters = 'Minimum 8 characters.'

// Profile, preferences

export const lightAndDarkModeReduced = 'Light and dark mode, reduced motion and text size follow your system settings.'
export const appearance = 'Appearance'
export const feedToken = 'Feed token'
export const letsFeedReaderReadYourFeeds = 'Lets a feed reader read your feeds.'
export const feedTokenIsActive = 'Feed token is active.'
export const noFeedTokenYet = 'No feed token yet.'
export const resetFeedTokenFeedReaders = 'Reset the feed token? Feed readers that use the current token stop working.'
export const resetFeedToken = 'Reset feed token'
export const createFeedToken = 'Create feed token'

// Profile, two factor auth

export const confirmYourSign =
  'Confirm your sign-in with a code from your phone or a passkey. Access tokens and SSH keys are not affected.'
export const fromTimeOnYouSee = 'From {time} on you can only open this page until you have set it up.'
export const theGroupByRequiresTwo = 'The group {by} requires two-factor authentication.'
export const utcTime = (day: string, time: string) => `${day} ${time} UTC`
export const setUpAuthenticatorApp = 'Set up authenticator app'
export const scanQrCodeWithYour =
  'Scan the QR code with your authenticator app, or enter the secret manually. Then enter the code from the app.'
export const enable = 'Enable'
export const twoFactorAuthenticationIsEnabled = 'Two-factor authentication is enabled.'
export const recoveryCodesLeft = (left: number) => `${left} recovery ${plural(left, 'code')} left.`
export const generateNewRecoveryCodes = 'Generate new recovery codes'
export const storeTheseRecoveryCodes =
  'Store these recovery codes in a safe place. Each code works once, and the codes are not shown again.'
export const authenticatorApp = 'Authenticator app'
export const anAppOnYourPhone = 'An app on your phone generates a new code every 30 seconds.'
export const yourBrowserDoesNotSupportPasskeys = 'Your browser does not support passkeys.'
export const thisInstanceRequiresTwoFactorAuthentication = 'This instance requires two-factor authentication.'
export const secret = 'Secret'
export const recoveryCodes = 'Recovery codes'
export const useRecoveryCodeIfYou = 'Use a recovery code if you lose access to your device. Each code works once.'
export const qrCode = 'QR code'

// Passkeys

export const theRequestWasCancelled = 'The request was cancelled or timed out. Try again.'
export const thisDeviceAlreadyHasPasskey = 'This device already has a passkey for your account.'
export const passkeysRequireHttpsAndDomainName = 'Passkeys require HTTPS and a domain name.'

// Sign in

export const tryAgain = 'Try again.'
