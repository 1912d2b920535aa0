import { policy } from '../../../api/endpoint.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import type { Head } from './entity.ts'

export interface BranchSubject extends RepositorySubject {
  /** Null where there is none, and for whoever may not know. */
  readonly branch: Head | null
}

export const branchPolicy = policy<BranchSubject>()({
  ...repositoryPolicy,
  protect: (s: RepositorySubject) => repositoryPolicy.download(s) && repositoryPolicy.administer(s),
})
