/** Commits in messages: a stub when the message is created, completed later with data from git. */
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { GitFailed } from '../../../git/process/command.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { Complete } from './message.ts'
import { hookCommit, findProjectInNamespace, shortProject, type ProjectInNamespace } from './shared.ts'

/** Stands for a commit until the message is completed. */
export const commitStub = (id: string | null) => id && { id }

export interface RepositoryContext extends ProjectInNamespace {
  readonly dir: string
  readonly webUrl: string
}

/**
 * Runs a git query for a message. Returns `otherwise` if the repository is missing or git takes too long: a message
 * never waits for git.
 */
export async function askGit<T>(
  app: App,
  project_id: number | null,
  ask: (context: RepositoryContext) => Promise<T>,
  otherwise: T,
  dirOf: typeof repositoryDir = repositoryDir,
): Promise<T> {
  const at = project_id === null ? null : await findProjectInNamespace(app, project_id)
  const dir = at && dirOf(app, at.project)
  if (!at || !dir || !(await repositoryExists(dir))) return otherwise
  try {
    return await ask({ ...at, dir, webUrl: shortProject(app, at).web_url })
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    app.log.warn({ err: error, project: project_id }, 'a message goes out without what git was asked for')
    return otherwise
  }
}

interface WithCommits {
  readonly commit?: { readonly id: string } | null
  readonly object_attributes?: WithLast
  readonly merge_request?: WithLast
}

interface WithLast {
  readonly last_commit?: { readonly id: string } | null
}

/**
 * Completes `commit` of a note, a release or a reaction, and `last_commit` of a merge request, wherever they appear.
 */
export const completeCommits: Complete = async (app, { project_id, body }) => {
  const { commit, object_attributes, merge_request } = body as WithCommits
  const stubs = [commit, object_attributes?.last_commit, merge_request?.last_commit]
  const whole = await askGit(
    app,
    project_id,
    async ({ dir, webUrl }) => {
      const ids = stubs.flatMap((stub) => stub?.id ?? [])
      const found = await findCommits(dir, ids)
      return new Map(found.flatMap((one) => (one ? [[one.id, hookCommit(one, webUrl)] as const] : [])))
    },
    new Map<string, ReturnType<typeof hookCommit>>(),
  )
  const filled = (stub: { readonly id: string } | null | undefined) => (stub ? (whole.get(stub.id) ?? null) : null)
  const withLast = (one: WithLast) => ('last_commit' in one ? { ...one, last_commit: filled(one.last_commit) } : one)
  return {
    ...body,
    ...(commit !== undefined && { commit: filled(commit) }),
    ...(object_attributes && { object_attributes: withLast(object_attributes) }),
    ...(merge_request && { merge_request: withLast(merge_request) }),
  }
}
