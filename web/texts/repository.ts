/** Texts of files, branches, tags, commits, comparisons and releases. */
import { plural } from './common.ts'

export const lineNumber = (n: number) => `Line ${n}`
export const browseFiles = 'Browse files'
export const permalink = 'Permalink'
export const filePathAtRef = (filePath: string, ref: string) => `${filePath} at ${ref}`
export const protectedBadge = 'protected'
export const createFrom = 'Create from'
export const branchTagOrCommit = 'Branch, tag or commit'
export const downloadName = (name: string) => `Download ${name}`
export const deleteName = (name: string) => `Delete ${name}`
export const allFiles = 'All files'
export const graph = 'Graph'
export const contributors = 'Contributors'
export const editFilePath = (filePath: string) => `Edit ${filePath}`
export const path = 'Path'
export const upcoming = 'upcoming'
export const releaseNotes = 'Release notes'
export const newRelease = 'New release'
export const createRelease = 'Create release'

// Commits

export const chooseFileToUpload = 'Choose a file to upload.'
export const authorNameCommittedTime = '{authorName} committed {time}'
export const commitsOfDay = (day: string) => `Commits of ${day}`
export const browseFilesAt = (shortId: string) => `Browse files at ${shortId}`

// Clone box

export const clone = 'Clone'
export const http = 'HTTP'
export const copyLabelUrl = (label: string) => `Copy ${label} URL`

// Commit fields

export const enterNewNameToCreateBranch = 'Enter a new name to create a branch'
export const createMergeRequestForNewBranch = 'Create a merge request for the new branch'

// Diff

export const thisDiffIsTooLarge = 'This diff is too large to display.'
export const loadDiff = 'Load diff'
export const binaryFileNotShown = 'Binary file not shown'
export const noContentChanges = 'No content changes'
export const changesInNewPath = (newPath: string) => `Changes in ${newPath}`
export const linesAdded = (added: number) => `${added} ${plural(added, 'line')} added`
export const linesRemoved = (removed: number) => `${removed} ${plural(removed, 'line')} removed`

// Diff tools

export const filesChanged = (total: number) => `${total} ${plural(total, 'file')} changed`
export const sideBySide = 'Side by side'

// Files

export const parentFolder = 'Parent folder'

// Ref picker

export const allTags = 'All tags'

// Blame, path

export const previousLines = 'Previous lines'
export const nextLines = 'Next lines'
export const viewBlameBeforeThisChange = 'View blame before this change'
export const blamePathAtRef = (path: string, ref: string) => `Blame · ${path} at ${ref}`
export const noLines = 'No lines'
export const linesOfPath = (path: string) => `Lines of ${path}`

// Blob, path

export const blame = 'Blame'
export const thisFileIsTruncatedView = 'This file is truncated. <link>View raw file</link>'
export const linesCounted = (count: number, isCut: boolean) => `${count}${isCut ? '+' : ''} ${plural(count, 'line')}, `
export const executable = ', executable'
export const rendered = 'Rendered'
export const thisFileCannotBeDisplayed = 'This file cannot be displayed.'
export const pdfDocumentNotShown = 'PDF document not shown.'
export const binaryFileNotShownSentence = 'Binary file not shown.'
export const thisFileIsTooLarge = 'This file is too large to display.'

// Branches

export const newBranch = 'New branch'
export const createBranch = 'Create branch'
export const pushBranchToGetStarted = 'Push a branch to get started.'
export const deleteMergedBranches = 'Delete merged branches'
export const defaultBadge = 'default'
export const mergedBadge = 'merged'
export const searchBranches = 'Search branches'
export const noMatchingBranches = 'No matching branches'
export const noBranchesYet = 'No branches yet'
export const deleteAllMergedBranchesProtected = 'Delete all merged branches? Protected branches are kept.'
export const branchDeleted = (name: string) => `Branch ${name} deleted`
export const tagDeleted = (name: string) => `Tag ${name} deleted`
export const historyOfBranchesAndTags = 'History of branches and tags'
export const allBranchesAndTags = 'All branches and tags'
export const noRefChanges = 'No changes'
export const refChangesAreKept = 'Changes of branches and tags can be undone for 90 days.'
export const refCreated = 'created'
export const refDeleted = 'deleted'
export const refUpdated = 'updated'
export const undoChangeOf = (name: string) => `Undo the change of ${name}`
export const deleteBranchName = (name: string) => `Delete the branch ${name}?`

// Commit, commit notes

export const firstThreads = (discussions: number, total: number) => `The first ${discussions} of ${total} threads.`
export const commentOnLine = (value: number | null) => `Comment on line ${value}`
export const commentOnLineOfNewPath = (value: number | null, newPath: string) =>
  `Comment on line ${value} of ${newPath}`
export const markdownAndMentions = 'Markdown and @mentions'

// Commit, sha

export const authoredTime = 'authored {time}'
export const committedTime = 'committed {time}'
export const pipelineNumber = (id: number) => `pipeline #${id}`
export const viewFile = 'View file'
export const options = 'Options'
export const cherryPick = 'Cherry-pick'
export const revert = 'Revert'
export const noParents = 'no parents'
export const parents = 'parents'
export const parent = 'parent'
export const noFilesChanged = 'No files changed'
export const createCommitThatRevertsThisCommit = 'Create a commit that reverts this commit?'

// Commits, path

export const commitsTitle = (path: string, ref: string) => `Commits${path && ` of ${path}`} at ${ref}`
export const noMatchingCommits = 'No matching commits'

// Compare, comparison

export const selectOtherRevisionsOrSwapThem = 'Select other revisions, or swap them.'
export const createMergeRequest = 'Create merge request'
export const latestCommitsShown = (commits: number) => `Latest ${commits} commits shown. <link>All commits</link>`
export const noCommitsBetween = (to: string, from: string) => `No commits in ${to} that are not in ${from}`

// Compare

export const selectBranchesTagsOrCommits = 'Select branches, tags or commits to see the changes between them.'
export const unknownBranchTagOrCommit = 'Unknown branch, tag or commit'
export const compareRevisions = 'Compare revisions'

// Edit, path

export const theFileIsDeleted = 'The file is deleted in a new commit and stays in the history.'
export const deleteFile = 'Delete file'
export const editMode = 'Edit mode'
export const replace = 'Replace'
export const updateFileName = (fileName: string) => `Update ${fileName}`
export const replacementFile = 'Replacement file'
export const replaceFileName = (fileName: string) => `Replace ${fileName}`
export const newPath = 'New path'
export const renameFileName = (fileName: string) => `Rename ${fileName}`

// Find file, path

export const findFile = 'Find a file'
export const onlyFirstFilesAreSearched = (total: number) => `Only the first ${total} files are searched.`
export const tryShorterSearchTermCharacters =
  'Try a shorter search term. The characters can appear anywhere in the path, in this order.'
export const findFileAtRef = (ref: string) => `Find a file at ${ref}`
export const pathContains = 'Path contains'
export const shownOrMoreFiles = (shown: number) => `${shown} or more files`
export const fileCount = (hits: number) => `${hits} ${plural(hits, 'file')}`
export const noMatchingFiles = 'No matching files'

// Graphs, ref

export const commitsAndEmail = (commits: number, email: string) => `${commits} ${plural(commits, 'commit')} · ${email}`
export const noContributorsYet = 'No contributors yet'
export const commitsByName = (name: string) => `Commits by ${name}`

// Network, ref

export const viewAsList = 'View as list'
export const graphAtRef = (ref: string | undefined) => `Graph at ${ref}`
export const onlyThisBranch = 'Only this branch'

// New, path

export const newFile = 'New file'
export const inputMode = 'Input mode'
export const upload = 'Upload'
export const leaveEmptyForRootFolder = 'Leave empty for the root folder'
export const leaveEmptyToKeepFileName = 'Leave empty to keep the file name'
export const uploadFile = 'Upload file'

// Releases, release

export const byPerson = 'by {person}'
export const assets = 'Assets'
export const sourceCodeFormat = (format: string) => `Source code (${format})`
export const scheduledForTime = 'scheduled for {time}'
export const releasedTime = 'released {time}'

// Releases, tag

export const allReleases = 'All releases'
export const deleteThisReleaseTagIsKept = 'Delete this release? The tag is kept.'

// Releases

export const releases = 'Releases'
export const publishReleaseNotesAndDownloads = 'Publish release notes and downloads for a tag.'
export const latest = 'latest'
export const noReleasesYet = 'No releases yet'

// Releases, new

export const existingTagsEnterNewName = (tags: string) => `Existing tags: ${tags}. Enter a new name to create a tag.`
export const none = 'none'
export const branchTagOrCommitForNew = 'Branch, tag or commit, for a new tag'

// Tags, name

export const viewRelease = 'View release'
export const createdTime = 'Created {time}'
export const signed = 'signed'
export const archives = 'Archives'

// Tags

export const newTag = 'New tag'
export const createTag = 'Create tag'
export const useTagsToMarkCommits = 'Use tags to mark commits, for example v1.0.'
export const release = 'release'
export const searchTags = 'Search tags'
export const optionalAddingMessageCreatesAnnotatedTag = 'Optional. Adding a message creates an annotated tag.'
export const noMatchingTags = 'No matching tags'
export const noTagsYet = 'No tags yet'
export const deleteTagName = (name: string) => `Delete the tag ${name}?`

// Tree, path

export const thisFolderIsEmpty = 'This folder is empty'

// Refs

export const notFound = 'Not found'
export const byteCount = (bytes: number) => `${bytes} ${plural(bytes, 'byte')}`
