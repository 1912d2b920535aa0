import { policy } from '../../../api/endpoint.ts'
import { Developer, Guest, Owner } from '../../../lib/levels.ts'
import { hasMergeRequests, readsMergeRequests } from '../../planning/seeing.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import type { MergeRequest } from './model.ts'

/** A merge request, and whether it is assigned to whoever looks. */
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

/** Merge requests of a project. */
export const mergeRequestsPolicy = policy<RepositorySubject>()({
  read: (s: RepositorySubject) => projectPolicy.read(s),
  readMergeRequests: readsMergeRequests,
  /** From its own branches; what they go to is asked apart. */
  createMergeRequest: (s) => repositoryPolicy.push(s),
})

/** Whoever is no member sees their own as long as they see the project at all. */
const reads = (s: MergeRequestSubject) => readsMergeRequests(s) || (hasMergeRequests(s) && isTheirs(s))
const mayWrite = (s: MergeRequestSubject) => s.viewer !== null && reads(s) && !s.project.archived

export const mergeRequestPolicy = policy<MergeRequestSubject>()({
  read: (s: MergeRequestSubject) => projectPolicy.read(s),
  readMergeRequest: reads,
  /** Its commits and changes: whose it is sees them only as long as they see code. */
  readCode: (s) => reads(s) && repositoryPolicy.download(s),
  /** Whoever sees it takes part in it. */
  participate: (s) => mayWrite(s) && (s.level >= Guest || isVisitable(s)),
  update: (s) => mayWrite(s) && (s.level >= Developer || isOwn(s)),
  /** Labels, milestone, assignees. */
  plan: (s) => mayWrite(s) && s.level >= Developer,
  destroy: (s) => mayWrite(s) && s.level >= Owner,
})
