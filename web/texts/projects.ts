/** Texts of projects and their settings. */
import { plural } from './common.ts'

export const namespace = 'Namespace'
export const fork = 'Fork'
export const forkedFromNameWithNamespace = 'Forked from {nameWithNamespace}'

// Projects, new

export const projectTemplate = 'Project template'
export const blankProject = 'Blank project'
export const importFromUrl = 'Import from URL'
export const gitRepositoryUrl = 'Git repository URL'
export const withCredentialsHttpsUsernamePassword = 'With credentials: https://username:password@example.com/…'
export const leaveEmptyToGenerateSlug = 'Leave empty to generate the slug from the name.'
export const initializeWithReadme = 'Initialize with a README'
export const letsYouCloneProjectImmediately =
  'Lets you clone the project immediately. Leave off to push an existing repository.'
export const importProject = 'Import project'

// Languages

export const languages = 'Languages'

// Edit

export const saveFeatures = 'Save features'
export const saveMergeRequestSettings = 'Save merge request settings'
export const unarchiveProject = 'Unarchive project'
export const archiveProject = 'Archive project'
export const transferProject = 'Transfer project'
export const everyoneWithAccess = 'Everyone with access'
export const onlyProjectMembers = 'Only project members'
export const mergeCommit = 'Merge commit'
export const mergeCommitWithSemiLinearHistory = 'Merge commit with semi-linear history'
export const fastForwardMerge = 'Fast-forward merge'
export const allowSquash = 'Allow'
export const encourageSquash = 'Encourage'
export const requireSquash = 'Require'
export const doNotAllowSquash = 'Do not allow'
export const pipelinesMustSucceed = 'Pipelines must succeed'
export const skippedPipelinesAreConsideredSuccessful = 'Skipped pipelines are considered successful'
export const allThreadsMustBeResolved = 'All threads must be resolved'
export const enableDeleteSourceBranchByDefault = 'Enable “Delete source branch” by default'
export const automaticallyResolveThreadsOnOutdatedLines = 'Automatically resolve threads on outdated lines'
export const showLinkToCreateMerge = 'Show link to create a merge request when pushing'
export const topics = 'Topics'
export const defaultBranch = 'Default branch'
export const features = 'Features'
export const chooseWhoCanUseEachFeature = 'Choose who can use each feature.'
export const allowUsersToRequestAccess = 'Allow users to request access'
export const mergeMethod = 'Merge method'
export const archivedProjectsAreReadOnly = 'Archived projects are read-only.'
export const archiveThisProject = 'Archive this project?'
export const pathAndTransfer = 'Path and transfer'
export const theOldUrlRedirects = 'The old URL redirects to the new URL.'
export const transferThisProject = 'Transfer this project?'
export const newNamespace = 'New namespace'
export const deleteThisProject = 'Delete this project'
export const deletesRepositoryIssuesMergeRequests = (lastDay: string | null) =>
  `Deletes the repository, issues, merge requests and all other data. ${
    lastDay === null ? 'The deletion is permanent.' : `Owners can restore the project until ${lastDay}.`
  }`
export const projectDeleted = (path: string, lastDay: string | null) =>
  lastDay === null
    ? `Project ${path} deleted permanently`
    : `Project ${path} deleted. Owners can restore the project until ${lastDay}.`
export const deleteProject = 'Delete project'
export const featuresSaved = 'Features saved.'

// Forks

export const forkProjectToMakeChanges =
  'Fork a project to make changes in your own copy and propose them with a merge request.'
export const descriptionUpdatedTime = '{description} updated {time}'
export const noForksYet = 'No forks yet'

// Forks, new

export const forkName = (name: string) => `Fork ${name}`
export const aForkIsCopy =
  'A fork is a copy of this project with all branches and tags. Propose changes with a merge request.'
export const forkProject = 'Fork project'

// Import

export const repositoryIsCopiedInBackground = (value: string) =>
  `The repository is ${value} in the background. You can leave this page.`
export const cancelImport = 'Cancel import'
export const goToProject = 'Go to project'
export const importLabel = 'Import'
export const thisProjectWasNotImported = 'This project was not imported.'
export const copied = 'copied'
export const imported = 'imported'
export const cancelTheImport = 'Cancel the import?'
export const deleteThisProjectAndForkAgain = 'Delete this project and fork again.'
export const checkUrlThenCreateProjectAgain = 'Check the URL, then create the project again.'

// Project

export const viewImportStatus = 'View import status'
export const moreFiles = 'More files'
export const starCount = (starCount: number) => `${starCount} ${plural(starCount, 'star')}`
export const forkCount = (forksCount: number) => `${forksCount} ${plural(forksCount, 'fork')}`
export const contributors = 'contributors'
export const releasedTime = 'released {time}'
export const releases = 'releases'
export const addReadme = 'Add README'
export const orPushExistingRepository = 'Or push an existing repository:'
export const importFailed = 'Import failed.'
export const importInProgress = 'Import in progress.'
export const star = 'Star'
export const about = 'About'
export const thisRepositoryIsEmpty = 'This repository is empty'

// Settings, repository

export const unprotect = 'Unprotect'
export const protectBranch = 'Protect branch'
export const protectTag = 'Protect tag'
export const writeAccess = 'write access'
export const fingerprintSha256AddedTime = '{fingerprintSha256} · added {time}'
export const lastUsedTime = ', last used {time}'
export const savePushRules = 'Save push rules'
export const developersAndMaintainers = 'Developers and maintainers'
export const commitMessagesMustMatch = 'Commit messages must match'
export const commitMessagesMustNotMatch = 'Commit messages must not match'
export const branchNamesMustMatch = 'Branch names must match'
export const commitAuthorEmailsMustMatch = 'Commit author emails must match'
export const fileNamesMustNotMatch = 'File names must not match'
export const doNotAllowUsers = 'Do not allow users to remove tags with git push'
export const commitAuthorsMustBeUsers = 'Commit authors must be users'
export const rejectFilesThatAreLikely = 'Reject files that are likely to contain secrets'
export const committerEmailMustBeVerified = 'Committer email must be a verified email of the user'
export const rejectUnsignedCommits = 'Reject unsigned commits'
export const protectedBranches = 'Protected branches'
export const protectedFromDeletionOnlySelected = 'Protected from deletion; only selected roles can push.'
export const branchRules = (push: string, merge: string, hasForcePush: boolean) =>
  `push: ${push} · merge: ${merge}${hasForcePush ? ' · force push allowed' : ''}`
export const tagRules = (create: string) => `create: ${create}`
export const unprotectName = (name: string) => `Unprotect ${name}?`
export const branchNameOrWildcardSuch = 'Branch name or wildcard such as release/*'
export const allowedToMerge = 'Allowed to merge'
export const allowedToPush = 'Allowed to push'
export const allowForcePush = 'Allow force push'
export const protectedTags = 'Protected tags'
export const onlySelectedRolesCanCreate = 'Only selected roles can create; protected from updates and deletion.'
export const tagNameOrWildcardSuch = 'Tag name or wildcard such as v*'
export const allowedToCreate = 'Allowed to create'
export const deployKeys = 'Deploy keys'
export const sshKeysForServers = 'SSH keys for servers and scripts with access to this project only.'
export const deleteTitle = (title: string) => `Delete “${title}”?`
export const addDeployKey = 'Add deploy key'
export const grantWritePermissions = 'Grant write permissions'
export const pushRules = 'Push rules'
export const rulesEveryPushMustSatisfy = 'Rules every push must satisfy.'
export const regularExpression = 'regular expression'
export const maximumFileSizeMb = 'Maximum file size (MB)'
export const zeroForAny = '0: any.'
export const pushRulesSaved = 'Push rules saved.'
