import { policy } from '../../../api/endpoint.ts'
import { Developer, Guest, Owner, Reporter } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import type { MergeRequest } from './model.ts'

/** A merge request, with the viewer's roles in it. */
export interface ViewedMergeRequest extends MergeRequest {
  readonly assigned: boolean
  readonly reviewing: boolean
}

export interface MergeRequestSubject extends RepositorySubject {
  readonly mergeRequest: ViewedMergeRequest
}

const isVisitable = ({ open, project }: ProjectSubject) => open.includes(project.visibility)

const isOwn = ({ mergeRequest, viewer }: MergeRequestSubject) =>
  viewer !== null && (mergeRequest.author_id === viewer.id || mergeRequest.assigned)
const isTheirs = (s: MergeRequestSubject) => isOwn(s) || s.mergeRequest.reviewing

export const hasMergeRequests = (s: Pick<ProjectSubject, 'project' | 'level'>): boolean =>
  hasFeature(s, 'merge_requests') && hasFeature(s, 'repository')

/** Whether the viewer sees all merge requests of a project. Authors, assignees and reviewers see theirs anyway. */
export const readsMergeRequests = (s: ProjectSubject): boolean =>
  hasMergeRequests(s) && (s.level >= Reporter || isVisitable(s))

/** Merge requests of a project. */
export const mergeRequestsPolicy = policy<RepositorySubject>()({
  read: (s: RepositorySubject) => projectPolicy.read(s),
  readMergeRequests: readsMergeRequests,
  /** Checks the source project. The target project is checked separately. */
  createMergeRequest: (s) => repositoryPolicy.push(s),
  restoreMergeRequest: (s) => readsMergeRequests(s) && !s.project.archived && s.level >= Owner,
})

/** A non-member sees their own merge requests as long as they can see the project. */
const reads = (s: MergeRequestSubject) => readsMergeRequests(s) || (hasMergeRequests(s) && isTheirs(s))
const mayWrite = (s: MergeRequestSubject) => s.viewer !== null && reads(s) && !s.project.archived

export const mergeRequestPolicy = policy<MergeRequestSubject>()({
  read: (s: MergeRequestSubject) => projectPolicy.read(s),
  readMergeRequest: reads,
  /** Commits and changes: authors see them only while they can read code. */
  readCode: (s) => reads(s) && repositoryPolicy.download(s),
  /** Everyone who sees the merge request can participate. */
  participate: (s) => mayWrite(s) && (s.level >= Guest || isVisitable(s)),
  update: (s) => mayWrite(s) && (s.level >= Developer || isOwn(s)),
  /** Labels, milestone, assignees. */
  plan: (s) => mayWrite(s) && s.level >= Developer,
  /** Only a first check: rules of the target branch may ask for more. */
  merge: (s) => reads(s) && s.level >= Developer,
  cancelAutoMerge: (s) => reads(s) && (s.level >= Developer || s.mergeRequest.author_id === s.viewer?.id),
  destroy: (s) => mayWrite(s) && s.level >= Owner,
})
