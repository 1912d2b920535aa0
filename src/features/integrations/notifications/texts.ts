/** Texts of notification mails, and of the pages to unsubscribe. */
import type { Reason } from './levels.ts'

// Openings

export const someone = 'Someone'
export const createdIssue = (name: string) => `${name} created an issue.`
export const createdMergeRequest = (name: string) => `${name} created a merge request.`
export const mentionedYou = (name: string, kind: string) => `${name} mentioned you in the ${kind}.`
export const updated = (name: string, kind: string) => `${name} updated the ${kind}.`
export const closed = (name: string, kind: string) => `${name} closed the ${kind}.`
export const reopened = (name: string, kind: string) => `${name} reopened the ${kind}.`
export const merged = (name: string, branch: string) => `${name} merged the merge request into ${branch}.`
export const approved = (name: string) => `${name} approved the merge request.`
export const unapproved = (name: string) => `${name} revoked the approval of the merge request.`
export const autoMergeEnabled = (name: string) =>
  `${name} set the merge request to auto-merge when the pipeline succeeds.`
export const unmergeable = 'The merge request could not be merged automatically.'
export const movedIssue = (name: string, path: string) => `${name} moved the issue to ${path}.`
export const issueDue = (date: string) => `The issue is due on ${date}.`
export const released = (name: string, release: string) => `${name} released ${release}.`
export const movedProject = (name: string, path: string) => `${name} moved the project ${path}.`
export const commented = (name: string) => `${name} commented:`
export const reviewed = (name: string) => `${name} reviewed the merge request:`
export const pushed = (name: string) => `${name} pushed to the merge request.`
export const pipelineEnded = (id: number, ref: string, result: string) => `Pipeline #${id} of ${ref} ${result}.`
export const pipelineResults = {
  failed_pipeline: 'failed',
  fixed_pipeline: 'is fixed: the pipeline succeeded after a failure',
  success_pipeline: 'succeeded',
}
export const pipelineSubjects = {
  failed_pipeline: 'Failed',
  fixed_pipeline: 'Fixed',
  success_pipeline: 'Successful',
} as const
export const reply = 'Re: '
export const issue = 'issue'
export const mergeRequest = 'merge request'

// Lines

export const branches = (source: string, target: string) => `Branches: ${source} to ${target}`
export const tag = (name: string) => `Tag: ${name}`
export const newPath = (path: string) => `New path: ${path}`
export const commit = (sha: string) => `Commit: ${sha}`
export const failedJob = (name: string, stage: string) => `Failed job: ${name} (${stage})`
export const newLabels = (titles: string) => `New labels: ${titles}`
export const andMore = 'and more'
export const assignees = 'Assignees'
export const reviewers = 'Reviewers'
export const none = 'none'
export const people = (role: string, names: string) => `${role}: ${names}`
export const peopleChanged = (role: string, names: string, before: string) => `${role}: ${names} (before: ${before})`
export const onFile = (path: string) => `On ${path}:`
export const onLine = (path: string, line: number) => `On ${path}, line ${line}:`
export const truncated = (url: string) => `(Truncated. Full text: ${url})`

// Frame

export const reasons: Record<Reason, string> = {
  own_activity: 'because you enabled notifications about your own activity',
  assigned: 'because you are an assignee',
  review_requested: 'because your review was requested',
  mentioned: 'because you were mentioned',
  subscribed: 'because you subscribed to this thread',
  participating: 'because you participated',
  watching: 'because you watch the project',
}
export const youReceiveThisEmail = (url: string, reason: string) => `You receive this email from ${url} ${reason}.`
export const repliesAreNotRead = 'Replies to this email are not read.'
export const unsubscribeFrom = {
  issue: 'Unsubscribe from this issue',
  merge_request: 'Unsubscribe from this merge request',
  project: 'Unsubscribe from this project',
}

// Digests

export const digestSubject = (total: number) =>
  `${total} ${total === 1 ? 'notification' : 'notifications'} in one email`
export const digestOpening =
  'You received many notifications within an hour. The remaining notifications are collected in this email.'
export const digestFooter = (url: string) =>
  `You receive this email from ${url}. Notification settings: ${url}/-/profile/notifications`

// Pages

export const unsubscribe = 'Unsubscribe'
export const stopNotifications = (username: string, scope: string) =>
  `Stop email notifications for ${username} about ${scope}?`
export const unsubscribed = 'Unsubscribed'
export const noLongerReceives = (username: string, scope: string) =>
  `${username} no longer receives email notifications about ${scope}.`
export const linkNotValid = 'This link is not valid'
export const itemDeletedOrLinkIncomplete = 'The item was deleted, or the link is incomplete.'
export const thisProjectUnlessItConcernsYou = 'this project, unless it concerns you'
export const thisMergeRequest = 'this merge request'
export const thisIssue = 'this issue'
