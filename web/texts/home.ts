/** Texts of the home page, dashboards, search, profiles and first steps. */
import { plural } from './common.ts'

export const noActivityYet = 'No activity yet'
export const createProject = 'Create a project'
export const myGroups = 'My groups'
export const youreAllCaughtUpSentence = "You're all caught up."
export const assignedToMe = 'Assigned to me'
export const createdByMe = 'Created by me'
export const reviewRequests = 'Review requests'
export const myProjects = 'My projects'
export const noProjectsYet = 'No projects yet'

// Activity

export const pushes = 'Pushes'
export const merges = 'Merges'
export const kind = 'Kind'
export const commitCount = (commitCount: number) => ` (${commitCount} commits)`

// First steps

export const createAccessTokenForHttp = 'Create an access token for HTTP or add an SSH key.'
export const youHaveTokensAndKeys = (tokens: number, keys: number) =>
  `You have ${tokens} <tokens>${plural(tokens, 'token')}</tokens> and ${keys} <keys>${plural(keys, 'key')}</keys>.`
export const theCommandsWillAppearHere = 'The commands will appear here.'
export const goToProject = 'Go to project'
export const doneBadge = 'done'
export const forHttpUseAccessToken = 'For HTTP, use an access token as the password.'
export const orAddSshPublicKey = 'Or add an SSH public key'
export const inYourExistingFolder = 'In your existing folder:'
export const whenGitAsksForCredentials =
  'When git asks for credentials, enter the username {username} and the token as the password.'
export const yourCodeIsOnline = 'Your code is online'
export const welcomeName = (name: string) => `Welcome, ${name}`
export const yourFirstPushHasArrived = 'Your first push has arrived.'
export const threeStepsToYourFirstPush = 'Three steps to your first push.'
export const projectName = 'Project name'
export const setUpAccess = 'Set up access'
export const push = 'Push'
export const key = 'Key'

// Welcome

export const welcome = 'Welcome'
export const firstPush = 'First push'
export const firstKey = 'First key'

// Results

export const requestBranches = (iid: number) => `!${iid} · {sourceBranch} into {targetBranch}, {time}`
export const nameOnNoteableTypeAtTime = '{name} on {noteableType} {at}, {time}'
export const due = (dueDate: string) => `due ${dueDate}`
export const linesOfPath = (path: string) => `Lines of ${path}`

// Dashboard, groups

export const createGroupToShareMembers =
  '<link>Create a group</link> to share members, labels and milestones between projects.'
export const noGroupsYet = 'No groups yet'

// Dashboard, merge requests

export const mergeRequestsThatYouReview = 'Merge requests that you review, are assigned to or created appear here.'
export const noReviewsRequested = 'No reviews requested'
export const noMergeRequestsAssignedToYou = 'No merge requests assigned to you'
export const youHaveNoMergeRequests = 'You have no merge requests'

// Dashboard, projects

export const createProjectOrExplorePublicProjects =
  '<link>Create a project</link> or <link2>explore public projects</link2>.'
export const member = 'Member'
export const owned = 'Owned'

// Dashboard, todos

export const markAllAsDone = 'Mark all as done'
export const assignmentsMentionsAndReviewRequests = 'Assignments, mentions and review requests appear here.'
export const doneTab = 'Done'
export const assignedYou = 'assigned you'
export const mentionedYouIn = 'mentioned you in'
export const directlyAddressedYouIn = 'directly addressed you in'
export const addedToDoItemFor = 'added a to-do item for'
export const requestedReviewOf = 'requested a review of'
export const requestedApprovalOf = 'requested an approval of'
export const hadFailedPipelineIn = 'had a failed pipeline in'
export const cannotMerge = 'cannot merge'
export const markedAsDone = 'Marked as done.'
export const markAllToDoItems = 'Mark all to-do items as done?'
export const toDo = 'To do'
export const youreAllCaughtUp = "You're all caught up"
export const noCompletedItems = 'No completed items'

// Explore, groups

export const exploreGroups = 'Explore groups'

// Explore

export const signInToSeeMoreProjects = 'Sign in to see more projects.'
export const exploreProjects = 'Explore projects'

// Explore, users

export const exploreUsers = 'Explore users'
export const searchUsersByNameOrEmail = 'Search users by name or email'
export const noMatchingUsers = 'No matching users'

// Instance

export const createAccountToContribute = '<link>Create an account</link> to contribute.'
export const helloName = (name: string) => `Hello, ${name}`
export const noReviewsRequestedSentence = 'No reviews requested.'
export const noIssuesAssignedToYou = 'No issues assigned to you.'
export const allMyProjects = 'All my projects'
export const reviews = 'Reviews'

// Search

export const selectProjectToSearchCode = 'Select a project to search code and commits.'
export const tryOtherSearchTermsAnother = 'Try other search terms, another type or another project.'
export const signInToSearchAll =
  '<link>Sign in</link> to search all content. Public projects and groups can be searched without an account.'
export const advancedSearch = 'Advanced search'
export const searchTerms = 'Search terms'
export const allProjects = 'All projects'
export const enterSearchTerm = 'Enter a search term'
export const publicProjects = 'Public projects'
export const nameContains = 'Name contains'
export const searchGroupsForWords = (words: string) => `Search groups for ${words}`
export const browsePublicGroups = 'Browse public groups'

// User

export const joinedTime = '· Joined {time}'
export const editProfile = 'Edit profile'
export const adminSettings = 'Admin settings'
export const followerCount = (followers: number) => `${followers} ${plural(followers, 'follower')}`
export const followers = 'Followers'
export const following = 'Following'
export const unfollow = 'Unfollow'
export const follow = 'Follow'
export const noPublicProjects = 'No public projects'
