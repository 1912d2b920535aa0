/** The schema of the first release. Later migrations change it; this one and its helpers stay as they are. */
import type { Kysely } from 'kysely'
import { createAccess } from './baseline/access.ts'
import { createJobs } from './baseline/ci-jobs.ts'
import { createPipelines } from './baseline/ci-pipelines.ts'
import { createGroups } from './baseline/groups.ts'
import { createIdentity } from './baseline/identity.ts'
import { createInstance } from './baseline/instance.ts'
import { createIntegrations } from './baseline/integrations.ts'
import { createReviews } from './baseline/merge-requests-review.ts'
import { createMergeRequests } from './baseline/merge-requests.ts'
import { createIssues } from './baseline/planning-issues.ts'
import { createNotes } from './baseline/planning-notes.ts'
import { createProjects } from './baseline/projects.ts'
import { createRepository } from './baseline/repository.ts'
import { createStore } from './baseline/store.ts'

/** In the order of their references: a table refers only to tables before it. */
const PARTS = [
  createStore,
  createInstance,
  createIdentity,
  createProjects,
  createAccess,
  createGroups,
  createIssues,
  createRepository,
  createMergeRequests,
  createNotes,
  createPipelines,
  createJobs,
  createReviews,
  createIntegrations,
]

export async function up(db: Kysely<never>): Promise<void> {
  for (const create of PARTS) await create(db)
}
