import { policy } from '../../../api/endpoint.ts'
import { Owner, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import type { Issue } from './model.ts'

/** An issue, and whether it is assigned to the viewer. */
export interface ViewedIssue extends Issue {
  readonly assigned: boolean
}

export interface IssueSubject extends ProjectSubject {
  readonly issue: ViewedIssue
}

const isOn = (s: ProjectSubject) => hasFeature(s, 'issues')
const mayWrite = (s: ProjectSubject) => s.viewer !== null && isOn(s) && !s.project.archived

const isOwn = ({ issue, viewer }: IssueSubject) => viewer !== null && (issue.author_id === viewer.id || issue.assigned)

/** Issues of a project. While they are disabled, none is visible and none can be created. */
export const issuesPolicy = policy<ProjectSubject>()({
  read: projectPolicy.read,
  readIssues: isOn,
  createIssue: mayWrite,
  restoreIssue: (s) => mayWrite(s) && s.level >= Owner,
})

export const issuePolicy = policy<IssueSubject>()({
  read: (s: IssueSubject) =>
    projectPolicy.read(s) && isOn(s) && (!s.issue.confidential || s.level >= Reporter || isOwn(s)),
  /** Everyone who sees the issue can participate. */
  participate: mayWrite,
  update: (s) => mayWrite(s) && (s.level >= Reporter || isOwn(s)),
  /** Assignees, milestone, labels, dates and order. */
  plan: (s) => mayWrite(s) && s.level >= Reporter,
  destroy: (s) => mayWrite(s) && s.level >= Owner,
})
