/** Texts of issues, boards, labels, milestones and comments. */
import { plural } from './common.ts'

export const noMilestone = 'No milestone'
export const unassigned = 'Unassigned'
export const confidential = 'Confidential'
export const assignedToName = (name: string) => `Assigned to ${name}`
export const dueDate = 'Due date'
export const weight = 'Weight'
export const noIssues = 'No issues'
export const deleteName = (name: string) => `Delete ${name}`
export const due = (dueDate: string) => `due ${dueDate}`
export const newIssue = 'New issue'
export const createIssue = 'Create issue'
export const board = 'Board'
export const milestoneDeleted = (title: string) => `Milestone ${title} deleted`
export const issueDeleted = (title: string) => `Issue ${title} deleted`
export const labelDeleted = (name: string) => `Label ${name} deleted`
export const milestoneClosed = 'Milestone closed.'
export const milestoneReopened = 'Milestone reopened.'
export const closeMilestone = 'Close milestone'
export const reopenMilestone = 'Reopen milestone'
export const deleteTitle = (title: string) => `Delete ${title}?`
export const newMilestone = 'New milestone'
export const createMilestone = 'Create milestone'

// Bulk edit

const NOUNS = { issues: 'issue', merge_requests: 'merge request' } as const

export const editChosen = (chosen: number | null, kind: keyof typeof NOUNS) =>
  `Edit ${chosen || 'selected'} ${plural(chosen ?? 0, NOUNS[kind])}`
export const selectTitle = (title: string) => `Select ${title}`
export const changeStatus = 'Change status'
export const addLabel = 'Add label'
export const removeLabel = 'Remove label'
export const changeMilestone = 'Change milestone'
export const changeAssignee = 'Change assignee'
export const selectAtLeastOneItem = 'Select at least one item and one change.'
export const itemsNotChanged = (count: number, reason: string) => ` ${count} were not: ${reason}`
export const itemsChanged = (count: number, kind: keyof typeof NOUNS) =>
  `${count} ${plural(count, NOUNS[kind])} changed.`

// Discussions

export const resolvedByName = (name: string) => `Resolved by ${name}`
export const reply = 'Reply'
export const edited = 'edited'
export const internalNote = 'Internal note'
export const startThread = 'Start thread'
export const resolve = 'Resolve'
export const commentByName = (name: string) => `Comment by ${name}`
export const deleteComment = 'Delete comment'
export const deleteThisComment = 'Delete this comment?'

// Issue list

export const relativeOpenedTimeByPerson = '{relative} · opened {time} by {person}'
export const dueSuffix = (dueDate: string) => `· due ${dueDate}`
export const tasksDone = (completedCount: number, count: number) =>
  `· ${completedCount} of ${count} ${plural(count, 'task')}`
export const comments = 'comments'
export const priority = 'Priority'
export const searchTitlesAndDescriptions = 'Search titles and descriptions'
export const label = 'Label'
export const anyLabel = 'Any label'
export const anyMilestone = 'Any milestone'
export const anyAssignee = 'Any assignee'
export const anyAuthor = 'Any author'
export const text = 'Text'
export const labelNamed = (label: string) => `Label: ${label}`
export const filters = 'Filters'
export const removeFilter = 'Remove filter'

// Label list

export const newLabel = 'New label'
export const createLabel = 'Create label'
export const useLabelsToCategorizeIssues =
  'Use labels to categorize issues and merge requests, and to create board lists.'
export const colour = 'Colour'
export const noLabelsYet = 'No labels yet'
export const openIssues = (openIssuesCount: number) => `${openIssuesCount} open ${plural(openIssuesCount, 'issue')}`
export const openMergeRequests = (openMergeRequestsCount: number) =>
  `, ${openMergeRequestsCount} merge ${plural(openMergeRequestsCount, 'request')}`
export const groupLabelSuffix = ' · group label'
export const deleteLabelName = (name: string) =>
  `Delete the label ${name}? It is removed from all issues and merge requests.`

// Deleted items

export const deletedItems = 'Deleted items'
export const noDeletedItems = 'No deleted items'
export const deletedItemsAreKept = 'Deleted issues, merge requests, labels and milestones can be restored for a while.'
export const deletedByUntil = 'Deleted by {user} {time}. Can be restored until {until}.'
export const restoreTitle = (title: string) => `Restore ${title}`
export const deleteTitlePermanently = (title: string) => `Delete ${title} permanently`

// Milestones

export const closedShare = (share: number, closed: number, all: number) => `${share} % · ${closed} of ${all} closed`
export const useMilestonesToTrackIssues =
  'Use milestones to track issues and merge requests that belong to a release or a due date.'
export const expired = 'expired'
export const shareComplete = (share: number) => `${share} % complete`
export const noMilestones = 'No milestones'
export const from = (startDate: string) => `from ${startDate} `
export const noDueDate = 'no due date'
export const startDate = 'Start date'

// Reactions

export const includingYours = ', including yours'
export const addReaction = 'Add reaction'

// Templates

export const template = 'Template:'
export const defaultLabel = 'Default'
export const templates = 'Templates'

// Time tracking

export const noTimeLogged = 'No time logged'
export const timeSpentAndEstimate = (humanTotalTimeSpent: string, humanTimeEstimate: string) =>
  `${humanTotalTimeSpent} spent, ${humanTimeEstimate}`
export const logTime = 'Log time'
export const set = 'Set'
export const removeEstimate = 'Remove estimate'
export const resetTimeSpent = 'Reset time spent'
export const estimated = (humanTimeEstimate: string) => `${humanTimeEstimate} estimated`
export const noEstimate = 'no estimate'
export const timeSpentComparedToEstimate = 'Time spent compared to estimate'
export const timeSpent = 'Time spent'
export const forExample1w2d3h = 'For example 1w 2d 3h 30m. Use -1h to subtract.'
export const estimate = 'Estimate'
export const deleteAllLoggedTime = 'Delete all logged time?'

// Boards, board

export const addList = 'Add list'
export const createBoard = 'Create board'
export const dragCardsBetweenLists = 'Drag cards between lists, or select a card and press Shift and an arrow key.'
export const inTitle = (title: string) => `in ${title}`
export const allIssues = (total: number | string) => `All ${total} issues`
export const movedTo = (iid: number, title: string) => `Moved #${iid} to ${title}`
export const couldNotMove = (iid: number, message: string) => `Could not move #${iid}: ${message}`
export const labelForNewList = 'Label for the new list'
export const boardName = 'Board name'
export const newBoard = 'New board'
export const deleteBoardNameIssues = (name: string) => `Delete the board ${name}? Issues are not deleted.`
export const lists = 'Lists'
export const removeList = (title: string) => `Remove list ${title}`
export const removeListQuestion = (title: string) => `Remove list ${title}? Issues are not deleted.`
export const issuesInTitle = (title: string) => `Issues in ${title}`
export const moved = (iid: string) => `Moved #${iid}.`
export const development = 'Development'

// Boards, card

export const move = 'Move'
export const listFor = (iid: number) => `List for #${iid}`

// Note actions

export const threadResolved = 'Thread resolved.'
export const threadReopened = 'Thread reopened.'

// Orders

export const recentlyActive = 'Recently active'

// Group, issues

export const issuesFromAllProjects = 'Issues from all projects in this group appear here.'

// Issues, description

export const task = 'Task'

// Issues, fields

export const noMembersYet = 'No members yet.'
export const noLabelsYetSentence = 'No labels yet.'

// Issues, sidebar

export const addToDoItem = 'Add a to-do item'
export const relatedMergeRequests = 'Related merge requests'
export const linkedIssues = 'Linked issues'
export const link = 'Link'
export const moveToAnotherProject = 'Move to another project'
export const moveIssue = 'Move issue'
export const lockDiscussion = 'Lock discussion'
export const onlyProjectMembersCanComment = 'Only project members can comment.'
export const removeLinkToTitle = (title: string) => `Remove link to ${title}`
export const relationship = 'Relationship'
export const relatesTo = 'Relates to'
export const isBlockedBy = 'Is blocked by'
export const issueToLink = 'Issue to link'
export const moveThisIssueIssue = 'Move this issue? The issue is closed here and links to the new issue.'
export const projectPath = 'Project path'

// Issues, iid

export const confidentialBadge = 'confidential'
export const locked = 'locked'
export const openedTimeByPerson = 'opened {time} by {person}'
export const signInToComment = '<link>Sign in</link> to comment.'
export const deleteIssue = 'Delete issue'
export const issueClosed = 'Issue closed.'
export const issueReopened = 'Issue reopened.'
export const issueUpdated = 'Issue updated.'
export const addedToYourToDoList = 'Added to your to-do list.'
export const closeIssue = 'Close issue'
export const reopenIssue = 'Reopen issue'
export const thisDiscussionIsLockedOnly = 'This discussion is locked. Only project members can comment.'
export const deleteThisIssueAndAllComments = 'Delete this issue and all comments?'

// Issues

export const openFirstIssue = 'Open the first issue'

// Issues, new

export const projectMembersWithReporterAccess =
  'Project members with Reporter access or higher can set labels, milestone and assignees.'
export const visibleOnlyToProjectMembers = 'Visible only to project members with Reporter access or higher.'

// Milestones, iid

export const assignIssuesToThisMilestone = 'Assign issues to this milestone'
