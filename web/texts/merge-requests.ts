/** Texts of merge requests, reviews and approvals. */
import { plural } from './common.ts'

export const approvalRules = 'Approval rules'
export const reviewers = 'Reviewers'
export const draft = 'Draft'
export const noMergeRequests = 'No merge requests'
export const markAsReady = 'Mark as ready'
export const versions = 'Versions'
export const pipelineNumber = (id: number) => `Pipeline #${id}`
export const changesSinceLastVersion = 'Changes since last version'
export const deleteSourceBranchWhenMerged = 'Delete source branch when merged'
export const squashCommitsWhenMerged = 'Squash commits when merged'
export const newMergeRequest = 'New merge request'

// Approval rules

export const addApprovalRule = 'Add approval rule'
export const approvalsFromWho = (approvalsRequired: number, who: string) =>
  `${approvalsRequired} ${plural(approvalsRequired, 'approval')} from ${who}`
export const saveRule = 'Save rule'
export const approversOfName = (name: string) => `Approvers of ${name}`
export const requiredByCodeowners = 'Required by CODEOWNERS.'
export const removeRule = (name: string) => `Remove the rule ${name}`
export const removeRuleQuestion = (name: string) => `Remove the rule ${name}?`
export const privateGroups = 'private groups'
export const anyEligibleUser = 'any eligible user'
export const approvalsRequired = 'Approvals required'
export const commaSeparatedGroupPathsWithout =
  'Comma-separated group paths. Without users and groups, any eligible user can approve.'

// Merge requests

export const moreFilters = 'More filters'
export const clearFilters = 'Clear filters'
export const fullOpenedTimeByPerson = '{full} opened {time} by {person}'
export const intoTargetBranch = 'into {targetBranch}'
export const conflicts = 'Conflicts'
export const leastRecentlyUpdated = 'Least recently updated'
export const recentlyMerged = 'Recently merged'
export const searchTitlesAndDescriptions = 'Search titles and descriptions'
export const username = 'username'
export const reviewer = 'Reviewer'
export const drafts = 'Drafts'
export const shown = 'Shown'
export const hidden = 'Hidden'
export const onlyDrafts = 'Only drafts'
export const noMatchingMergeRequests = 'No matching merge requests'
export const tasksDone = (completedCount: number, count: number) =>
  ` · ${completedCount} of ${count} ${plural(count, 'task')}`
export const mergeConflictsWithTargetBranch = 'Merge conflicts with the target branch'
export const commentCount = (userNotesCount: number) => `${userNotesCount} ${plural(userNotesCount, 'comment')}`
export const pushBranchThenCreateMerge =
  'Push a branch, then create a merge request to have the changes reviewed and merged.'

// Group, merge requests

export const mergeRequestsFromAllProjects = 'Merge requests from all projects in this group appear here.'

// Merge requests, finish review

export const finishReview = 'Finish review'
export const decision = 'Decision'
export const submitReview = 'Submit review'
export const requestChanges = 'Request changes'
export const pendingComments = (drafts: number) => ` (${drafts} ${plural(drafts, 'pending comment')})`
export const summary = 'Summary'

// Merge requests, head

export const personWantsToMergeBranch = '{person} wants to merge {branch} into {branch2}, opened {time}'
export const markAsDraft = 'Mark as draft'
export const forkName = (name: string) => `fork:${name}`
export const linkParent = '{link} (parent)'
export const linkChild = '{link} (child)'
export const closeThisMergeRequest = 'Close this merge request?'
export const inFork = 'In a fork'
export const stack = 'Stack'

// Merge requests, merge box

export const checksPassed = (count: number) => `${checks(count)} passed`
export const byPerson = 'by {person}'
export const asLink = 'as {link}'
export const closedWithoutMerging = 'Closed without merging'
export const setToAutoMergeWhen = 'Set to auto-merge when the pipeline succeeds'
export const setByPerson = ', set by {person}'
export const readyToMerge = 'Ready to merge'
export const andMore = (conflicts: number) => `and ${conflicts} more`
export const goToThreads = 'Go to threads'
export const viewDependencies = 'View dependencies'
export const rebasing = 'Rebasing…'
export const rebase = 'Rebase'
export const rebaseStack = 'Rebase stack'
export const forSha = 'for {sha}'
export const revokeApproval = 'Revoke approval'
export const cancelAutoMerge = 'Cancel auto-merge'
export const commitsWillBeSquashed = 'Commits will be squashed'
export const editCommitMessage = 'Edit commit message'
export const merge = 'Merge'
export const autoMergeWhenPipelineSucceeds = 'Auto-merge when the pipeline succeeds'
export const notDraft = 'Not a draft'
export const dependenciesMerged = 'Dependencies merged'
export const noChangesRequested = 'No changes requested'
export const threadsResolved = 'Threads resolved'
export const approved = 'Approved'
export const pipelinePassed = 'Pipeline passed'
export const hasCommits = 'Has commits'
export const noConflicts = 'No conflicts'
export const upToDateWithTarget = 'Up to date with target'
export const youCanMerge = 'You can merge'
export const theAuthor = 'the author'
export const aDeveloper = 'a developer'
export const anApprover = 'an approver'
export const aReviewer = 'a reviewer'
export const aMaintainer = 'a maintainer'
export const aPassedPipeline = 'a passed pipeline'
export const checkingThisTakesMoment = 'Checking, this takes a moment'
export const cannotBeResolved = 'Cannot be resolved'
export const notRequiredState = 'Not required'
export const mergeChecks = 'Merge checks'
export const passedMergeChecks = 'Passed merge checks'
export const mergePending = (count: number) => `Merge pending: ${checks(count)} not finished`
export const mergeBlocked = (count: number) => `Merge blocked: ${checks(count)} failed`
const checks = (count: number) => `${count} ${plural(count, 'check')}`
export const notRequired = 'not required'
export const canResolveThis = (names: string) => `${names} can resolve this`
export const namesOr = (names: string, last: string) => `${names} or ${last}`
export const yourPassword = 'Your password'
export const noApprovalsYet = 'No approvals yet'
export const approvedByNames = (listed: string) => `Approved by ${listed}`
export const approvalsMissing = (left: number, required: number) =>
  `, ${left} of ${required} ${plural(required, 'approval')} missing`
export const allRequiredApprovalsGiven = ', all required approvals given'
export const approvedBy = 'Approved by'
export const deleteSourceBranch = 'Delete source branch'
export const mergeCommitMessage = 'Merge commit message'
export const leaveEmptyForProjectDefault = 'Leave empty for the project default.'
export const squashCommitMessage = 'Squash commit message'
export const usedOnlyWhenCommitsAreSquashed = 'Used only when commits are squashed.'

// Merge requests, review diff

export const linesNamed = (linesText: string) => `Lines ${linesText}`
export const viewed = 'Viewed'
export const fileList = (files: number) => `File list (${files})`
export const viewedBadge = 'viewed'
export const addToReview = 'Add to review'
export const addCommentNow = 'Add comment now'
export const lineOnly = (value: number | null) => `line ${value} only`
export const lineText = (value: number | null, text: string) => `line ${value}: ${text}`
export const toLine = (value: number | null) => `to line ${value}`
export const suggestChange = 'Suggest a change'
export const suggestedLines = 'Suggested lines'
export const pendingOnlyVisibleToYou = 'Pending: only visible to you'
export const publishNow = 'Publish now'
export const saveComment = 'Save comment'
export const commentOnLine = (value: number | null) => `Comment on line ${value}`
export const viewedCount = (viewed: number) => `, ${viewed} viewed`
export const viewedMemory = (memory: string) => `viewed ${memory}`
export const commentOnLineOfNewPath = (value: number | null, newPath: string) =>
  `Comment on line ${value} of ${newPath}`
export const firstLine = 'First line'
export const pendingComment = 'Pending comment'
export const deletePendingComment = 'Delete pending comment'

// Merge requests, side

export const addToDoItem = 'Add a to-do item'
export const editWhat = (what: string) => `Edit ${what}`
export const dependsOn = 'Depends on'
export const addDependency = 'Add dependency'
export const privateMergeRequest = 'Private merge request'
export const timeTracking = 'Time tracking'
export const closesIssues = 'Closes issues'
export const reference = 'Reference'
export const reviewPending = 'Review pending'
export const commented = 'Commented'
export const requestedChanges = 'Requested changes'
export const revokedApproval = 'Revoked approval'
export const dependencies = 'Dependencies'
export const removeDependency = 'Remove dependency'
export const mergeRequestToMergeFirst = 'Merge request to merge first'

// Merge requests, suggestions

export const suggestedChange = 'Suggested change'
export const applied = 'Applied'
export const applySuggestions = (ids: number) => `Apply ${ids} ${plural(ids, 'suggestion')} in one commit`
export const lines = 'Lines'

// Merge requests, iid, commits

export const pushCommitsToSourceBranch = (sourceBranch: string) => `Push commits to ${sourceBranch}.`
export const commitsTitle = (title: string, iid: number) => `Commits · ${title} (!${iid})`

// Merge requests, iid, diffs

export const filesChanged = (total: number | null) => `{total} ${plural(total ?? 0, 'file')} changed`
export const showingOneFileShowAll = '(showing one file). <link>Show all</link>'
export const showLatestVersion = 'Show latest version'
export const showingFirstThreadsSeeMore = (items: number, left: number) =>
  `Showing the first ${items} threads. See ${left} more on the <link>Overview tab</link>.`
export const pushCommitsToSourceBranchToSee = (sourceBranch: string) =>
  `Push commits to ${sourceBranch} to see the changes here.`
export const otherPendingComments = 'Other pending comments'
export const changesTitle = (title: string, iid: number) => `Changes · ${title} (!${iid})`
export const inVersion = (versionNumber: number) => `in version ${versionNumber}`
export const sideBySide = 'Side by side'
export const noChanges = 'No changes'

// Merge requests, iid, edit

export const editMergeRequest = (iid: number) => `Edit merge request !${iid}`
export const deletesMergeRequestAndAll = 'Deletes the merge request and all comments. Branches are kept.'
export const deleteMergeRequest = 'Delete merge request'
export const editTitle = (title: string, iid: number) => `Edit ${title} (!${iid})`
export const mergeRequestDeleted = (title: string) => `Merge request ${title} deleted`
export const deleteThisMergeRequest = 'Delete this merge request and all its comments?'

// Merge requests, iid

export const yourPendingComments = 'Your pending comments'
export const outdated = 'outdated'
export const usesApprovalRulesOfProject = 'Uses the approval rules of the project.'

// Merge requests, iid, pipelines

export const addGitlabCiYml = 'Add a <code>.gitlab-ci.yml</code> to the source branch to run pipelines.'
export const shaOfRefBySourceTime = '{sha} of {ref}, by {source} {time}'
export const pipelinesTitle = (title: string, iid: number) => `Pipelines · ${title} (!${iid})`
export const noPipelines = 'No pipelines'

// Merge requests, iid, versions

export const everyPushToSourceBranch = (sourceBranch: string) => `Every push to ${sourceBranch} creates a version.`
export const versionNumber = (versions: number) => `Version ${versions}`
export const commitsCompared = (added: number, removed: number, kept: number) =>
  `${added} ${plural(added, 'commit')} added, ${removed} removed, ${kept} unchanged.`
export const rebaseConflictsWereResolvedManuallyIn = (conflicts: string) =>
  `Rebase conflicts were resolved manually in ${conflicts}.`
export const newCommits = 'New commits'
export const removedCommits = 'Removed commits'
export const theDiffIsTruncated = 'The diff is truncated.'
export const versionsTitle = (title: string, iid: number) => `Versions · ${title} (!${iid})`
export const noVersionsYet = 'No versions yet'
export const newest = ' (newest)'
export const filesSuffix = (realSize: string) => `, ${realSize} files`
export const versionAtCommit = (versions: number, headCommitSha: string) => `Version ${versions} (${headCommitSha})`
export const theBranchWasRebased = 'The branch was rebased in between. Changes from the target branch are not shown.'

// Merge requests, actions

export const mergeRequestClosed = 'Merge request closed.'
export const assigneesUpdated = 'Assignees updated.'
export const reviewersUpdated = 'Reviewers updated.'
export const labelsUpdated = 'Labels updated.'
export const milestoneUpdated = 'Milestone updated.'
export const addedToYourToDoList = 'Added to your to-do list.'

// Merge requests, new

export const theBranchesCouldNot = 'The branches could not be compared. Check that both branches exist.'
export const pushBranchFirstPushOutput =
  'Push a branch first. The push output contains a link to create a merge request.'
export const target = 'Target'
export const compareAndContinue = 'Compare and continue'
export const namedIntoNamed2ChangeBranches = '{named} into {named2} <link>Change branches</link>'
export const sourceBranchIsAlreadyMerged = (sourceBranch: string, targetBranch: string) =>
  `${sourceBranch} is already merged into ${targetBranch}. Select other branches, or push commits.`
export const createMergeRequest = 'Create merge request'
export const commitsFiles = (commits: number, diffs: number) =>
  `${commits} ${plural(commits, 'commit')}, ${diffs} ${plural(diffs, 'file')}`
export const noBranchesToMerge = 'No branches to merge'
export const sourceProject = 'Source project'
export const sourceBranch = 'Source branch'
export const targetProject = 'Target project'
export const closesIssue = (value: string | undefined) => `Closes #${value}`
export const noChangesToMerge = 'No changes to merge'
export const draftsCannotBeMergedUntil = 'Drafts cannot be merged until marked as ready.'
export const allowCommitsFromMembersWho = 'Allow commits from members who can merge'

// Settings, merge requests

export const theMergeMethod = 'The merge method is in the <link>general settings</link>.'
export const resetApprovalsOnNewCommits = 'Reset approvals on new commits'
export const preventEditingApprovalRules = 'Prevent editing approval rules in merge requests'
export const allowApprovalByAuthor = 'Allow approval by the author'
export const preventApprovalByCommitters = 'Prevent approval by committers'
export const requirePasswordToApprove = 'Require password to approve'
export const approvalsRequiredBeforeMergeRequest = 'Approvals required before a merge request can be merged.'
export const noApprovalRulesApprovalIsOptional = 'No approval rules. Approval is optional.'
export const approvalSettings = 'Approval settings'
export const defaultApprovalsRequired = 'Default approvals required'
