import type { App, User } from '../../../context.ts'
import { Refusal, type FieldErrors } from '../../../errors.ts'
import type { Visibility } from '../../../lib/levels.ts'
import { hasContent } from '../../../git/storage/repositories.ts'
import type { NewRow } from '../../../store/database.ts'
import { scheduleProvisioning } from '../repositories/provisioning.ts'
import type { ProjectSubject } from '../projects/policy.ts'
import { PROVISIONING, type ImportStatus } from '../projects/model.ts'
import type { Project } from '../projects/queries.ts'
import { repositoryDir } from '../repositories/repository.ts'
import { addProject, assertWithinLimit, blankProject } from '../projects/service.ts'
import { assertValidProject } from '../projects/validation.ts'
import { assertVisibilityAllowed } from '../projects/visibility.ts'
import { copyRepositoryOf } from './jobs.ts'
import { mayFork } from './policy.ts'
import { countFork } from './relation.ts'
import { forkVisibility, targetNamespace } from './target.ts'

export interface ForkInput {
  /** An id, a path or a name. */
  namespace?: string | null | undefined
  name?: string | null | undefined
  path?: string | null | undefined
  description?: string | null | undefined
  visibility?: Visibility | null | undefined
}

/** Answers at once and copies the repository in the background. An empty source needs no copy. */
export async function forkProject(app: App, actor: User, subject: ProjectSubject, input: ForkInput): Promise<Project> {
  const { project: source } = subject
  const namespace = await targetNamespace(app, actor, input.namespace ?? null)
  assertForkable(subject)
  await assertWithinLimit(app, namespace)
  return tellingConflicts(async () => {
    const name = input.name ?? source.name
    const path = input.path ?? source.path
    const description = input.description ?? source.description
    assertValidProject({ ...(input.name && { name }), ...(input.path && { path }), description })
    const visibility = input.visibility ?? (await forkVisibility(app, actor, source, namespace))
    if (input.visibility) await assertVisibilityAllowed(app, actor, visibility, { namespace, source })
    const row = {
      ...blankProject(app, { namespace_id: namespace.id, name, path, creator_id: actor.id }),
      ...settingsOf(source),
      import_status: await firstStatus(app, source),
      description,
      visibility,
      topics: [],
    }
    return addProject(app, actor, namespace, row, async (app, fork) => {
      await countFork(app, source.id, 1)
      if (fork.import_status === 'scheduled') {
        await scheduleProvisioning(app, copyRepositoryOf, { id: fork.id, source_id: source.id })
      }
    })
  })
}

async function firstStatus(app: App, source: Project): Promise<ImportStatus> {
  // A repository may contain only tags.
  const isFilled = !source.empty_repo || (await hasContent(repositoryDir(app, source)))
  return isFilled ? 'scheduled' : 'finished'
}

/** The settings that a fork takes over. Members, webhooks, topics and others stay behind. */
const settingsOf = (source: Project): Partial<NewRow<'projects'>> => ({
  forked_from_id: source.id,
  default_branch: source.default_branch,
  shared_runners_enabled: source.shared_runners_enabled,
  builds_access_level: source.builds_access_level,
  public_jobs: source.public_jobs,
  ci_config_path: source.ci_config_path,
  avatar_digest: source.avatar_digest,
  avatar_filename: source.avatar_filename,
  avatar_type: source.avatar_type,
})

function assertForkable(subject: ProjectSubject): void {
  if (!mayFork(subject)) throw refusal('is forbidden')
  // A fork of an unfinished import would be empty and stay empty.
  if (PROVISIONING.includes(subject.project.import_status)) throw refusal('is still being imported')
}

const refusal = (fault: string) => new Refusal('conflict', { forked_from_project_id: [fault] })

/** The API contract answers every error of a fork with a conflict. */
async function tellingConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'bad_request') throw error
    const { limit_reached: _, ...faults } = error.reason as FieldErrors
    throw new Refusal('conflict', faults)
  }
}
