/** Texts of the admin area. */
import { plural } from './common.ts'

export const repositories = 'Repositories'
export const administratorBadge = 'administrator'
export const unblock = 'Unblock'
export const block = 'Block'
export const administrator = 'Administrator'
export const externalCanAccessOnlyProjects = 'External: can access only projects and groups they are a member of'
export const username = 'Username'

// Admin, application settings, chapters

export const visibilityAndDefaults = 'Visibility and defaults'
export const signInAndSignUp = 'Sign-in and sign-up'
export const tokensAndKeys = 'Tokens and keys'
export const outboundRequests = 'Outbound requests'
export const rateLimits = 'Rate limits'
export const messagesAndEmail = 'Messages and email'

// Admin, application settings

export const saveSettings = 'Save settings'
export const privateLabel = 'Private'
export const internal = 'Internal'
export const off = 'Off'
export const softConfirmWithinFewDays = 'Soft: confirm within a few days'
export const hardConfirmBeforeFirstSignIn = 'Hard: confirm before the first sign-in'
export const sshAndHttp = 'SSH and HTTP'
export const sshOnly = 'SSH only'
export const httpOnly = 'HTTP only'
export const notProtected = 'Not protected'
export const partiallyProtectedDevelopersCanPush = 'Partially protected: developers can push, no force push'
export const fullyProtectedOnlyMaintainersCanPush = 'Fully protected: only maintainers can push'
export const protectedAgainstPushesDevelopersCan =
  'Protected against pushes: developers can merge, maintainers can push'
export const developersAndMaintainers = 'Developers and maintainers'
export const sunday = 'Sunday'
export const monday = 'Monday'
export const saturday = 'Saturday'
export const sections = 'Sections'

// Admin, audit log

export const changesByAdministratorsEntries = 'Changes by administrators. Entries are kept for one year.'
export const changesToSettingsAndUsers =
  'Changes to settings and users, and actions taken on behalf of other users, appear here.'
export const older = 'Older'
export const entityByAuthor = (type: string, path: string | number, author: string) => `${type} ${path} · by ${author}`
export const fromIpAddressTime = '· from {ipAddress} · {time}'
export const fromShown = 'from {shown}'
export const toShown = 'to {shown}'
export const entityType = 'Entity type'
export const user = 'User'
export const noAuditEvents = 'No audit events'
export const auditEvents = 'Audit events'
export const actingAs = (actingAs: string) => ` as @${actingAs}`

// Admin, background jobs

export const jobsThatFailedOnEvery = 'Jobs that failed on every attempt. Retry a job after fixing the cause.'
export const busyOfConcurrencyWorkersBusy = '{busy} of {concurrency} workers busy · up since {time}'
export const attemptsAttemptsCreatedTimePayload = '{attempts} attempts, created {time} · {payload}'
export const queueLatency = 'Queue latency'
export const processed = 'Processed'
export const failedAttempts = 'Failed attempts'
export const noFailedJobs = 'No failed jobs'
export const processes = 'Processes'
export const hostnameProcessPid = (hostname: string, pid: number) => `${hostname}, process ${pid}`
export const failedJobs = 'Failed jobs'
export const retryJob = (id: number) => `Retry job ${id}`
export const deleteJob = (id: number) => `Delete job ${id}`
export const deleteThisJobWork = 'Delete this job? The work is not done.'

// Admin, broadcast messages

export const createBroadcastMessage = 'Create broadcast message'
export const active = 'active'
export const broadcastTypeFromTimeUntilTime2 = '{broadcastType} · from {time} until {time2}'
export const bannerTopOfAllPages = 'Banner: top of all pages'
export const notificationCornerOfPage = 'Notification: corner of the page'
export const newBroadcastMessage = 'New broadcast message'
export const startsAtUtc = 'Starts at (UTC)'
export const leaveEmptyToStartNow = 'Leave empty to start now.'
export const endsAtUtc = 'Ends at (UTC)'
export const leaveEmptyToEndAfter = 'Leave empty to end after one hour.'
export const noBroadcastMessages = 'No broadcast messages'
export const deleteThisMessage = 'Delete this message?'

// Admin

export const readiness = 'Readiness'
export const metrics = 'Metrics'
export const usernameCreatedTime = '@{username} · created {time}'
export const activeUsers = 'Active users'
export const gitLfsObjects = 'Git LFS objects'
export const jobArtifacts = 'Job artifacts'
export const database = 'Database'
export const health = 'Health'
export const version = 'Version'
export const revision = 'Revision'
export const backgroundJobsQueued = 'Background jobs queued'
export const backgroundJobsFailed = 'Background jobs failed'
export const runnersOnline = 'Runners online'
export const someOfAll = (some: string | number, all: string | number) => `${some} of ${all}`
export const storage = 'Storage'
export const freeDiskSpace = 'Free disk space'
export const latestUsers = 'Latest users'
export const backup = 'Backup'
export const backupDestination = 'Destination'
export const backupCurrent = 'Last complete'
export const backupProven = 'Restore last proven'
export const backupError = 'Backup failed'
export const proofError = 'Restore failed'
export const never = 'never'
export const backupStates = {
  off: 'No backup is configured (MORTISE_BACKUP_URL).',
  behind: 'The backup lacks the latest changes.',
  unproven: 'No restore was proven in the last two days.',
}

// Admin, projects

export const sizeCommitsUpdated = (commitCount: number) =>
  `{sizeText} · ${commitCount} ${plural(commitCount, 'commit')} · updated {time}`

// Admin, runners

export const instanceRunnersRunJobs = 'Instance runners run jobs of all projects.'

// Admin, users, approval

export const reject = 'Reject'
export const rejectUserNamed = (name: string) =>
  `Reject ${name}? The account is deleted and the user is notified by email.`

// Admin, users, username

export const allUsers = 'All users'
export const activate = 'Activate'
export const deactivate = 'Deactivate'
export const revokeAllCredentials = 'Revoke all credentials'
export const saveAccount = 'Save account'
export const canCreateGroups = 'Can create groups'
export const blockThisUserUser = 'Block this user? The user is signed out and cannot sign in.'
export const signOutAllSessions = 'Sign out all sessions and revoke all tokens?'
export const lastSignIn = 'Last sign-in'
export const signInProviders = 'Sign-in providers'
export const leaveEmptyToKeepCurrent =
  'Leave empty to keep the current password. The user must choose a new password at the next sign-in and is signed out of all sessions. Access tokens, the private token and applications keep working unless revoked.'
export const alsoRevokeAllTokens = 'Also revoke all tokens'
export const sshKeysAreKept = 'SSH keys are kept.'
export const projectLimit = 'Project limit'
export const project = 'project'
export const group = 'group'
export const memberships = 'Memberships'
export const deleteThisUser = 'Delete this user'
export const deletesUserAndAllPersonal =
  'Deletes the user and all personal projects. Contributions to other projects are kept.'
export const deleteUser = 'Delete user'
export const allSessionsSignedOut = 'All sessions signed out and all tokens revoked.'

// Admin, users

export const createUser = 'Create user'
export const emailCreatedTime = '{email} · created {time}'
export const activeOn = (lastActivityOn: string) => `· active on ${lastActivityOn}`
export const external = 'External'
export const newUser = 'New user'
export const leaveEmptyToEmailUser = 'Leave empty to email the user a link to set a password.'
export const skipEmailConfirmation = 'Skip email confirmation'
export const searchUsersByNameUsername = 'Search users by name, username or email'
export const noUsers = 'No users'
export const blockUserNamed = (name: string) => `Block ${name}? The user is signed out and cannot sign in.`

// Admin, variables

export const availableToJobsOfAllProjects = 'Available to jobs of all projects.'
