/** Compares the store with the repositories. Changes nothing without the repair option. */
import type { App } from '../../../context.ts'
import { GitFailed } from '../../../git/process/command.ts'
import { branchExists, hasBranches } from '../../../git/refs/refs.ts'
import { faultsOf } from '../../../git/storage/integrity.ts'
import { headOf, repositoryExists, setHead } from '../../../git/storage/repositories.ts'
import { inspectRepository } from '../../projects/repositories/inspection.ts'
import { PROVISIONING } from '../../projects/projects/model.ts'
import { keepInspected } from '../../projects/projects/activity.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/repositories/repository.ts'
import { missingCommits } from './commits.ts'
import type { CheckOptions, Finding } from './findings.ts'
import { leftoversIn, type Leftovers } from './leftovers.ts'
import { checkPools, sharingFaults } from './pools.ts'

const PROJECTS_A_TURN = 100

/** Yields a finding for every project, then for every pool. Sound ones have no faults. */
export async function* checkRepositories(app: App, options: CheckOptions = {}): AsyncGenerator<Finding> {
  yield* checkProjects(app, options)
  yield* checkPools(app, options)
}

async function* checkProjects(app: App, options: CheckOptions): AsyncGenerator<Finding> {
  for (let last = 0; ;) {
    const projects = await app.db
      .selectFrom('projects')
      .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
      .selectAll('projects')
      .select('namespaces.full_path')
      .where('projects.id', '>', last)
      // A deleted project that can be restored must be sound.
      .where((eb) =>
        eb.or([
          eb('projects.deleting', '=', false),
          eb('projects.marked_for_deletion_at', 'is not', null),
          eb('projects.deleted_with_group_id', 'is not', null),
        ]),
      )
      .orderBy('projects.id')
      .limit(PROJECTS_A_TURN)
      .execute()
    for (const { full_path, ...project } of projects)
      yield await checkProject(app, project, `${full_path}/${project.path}`, options)
    if (projects.length < PROJECTS_A_TURN) return
    last = projects.at(-1)!.id
  }
}

export async function checkProject(
  app: App,
  project: Project,
  path: string,
  { repair = false }: CheckOptions = {},
): Promise<Finding> {
  const dir = repositoryDir(app, project)
  if (!(await repositoryExists(dir))) return { path, faults: ['there is no repository'] }
  const left = await leftInProject(app, project, repair)
  const broken = [...(await sharingFaults(app, project, dir)), ...(await faultsOf(dir))]
  // An unfinished import may be in any intermediate state.
  if (PROVISIONING.includes(project.import_status)) return { path, faults: broken, ...left }
  const missing = await missingCommits(app, project, dir).catch((error: unknown) => {
    // Git commands may fail in a broken repository.
    if (broken.length > 0 && error instanceof GitFailed) return []
    throw error
  })
  const faults = [...broken, ...missing, ...(await wikiFaults(app, project))]
  if (broken.length > 0) return { path, faults, ...left }
  const repairs = [...left.repairs, ...(repair ? await mendFacts(app, project, dir) : [])]
  return { path, faults: [...faults, ...(await factFaults(app, project, dir))], ...left, repairs }
}

async function leftInProject(app: App, project: Project, repair: boolean): Promise<Leftovers> {
  const own = await leftoversIn(repositoryDir(app, project), repair)
  const wiki = wikiDir(app, project)
  if (!(await repositoryExists(wiki))) return own
  const { leftovers, repairs } = await leftoversIn(wiki, repair)
  return {
    leftovers: [...own.leftovers, ...leftovers.map((name) => `wiki: ${name}`)],
    repairs: [...own.repairs, ...repairs.map((done) => `wiki: ${done}`)],
  }
}

async function wikiFaults(app: App, project: Project): Promise<string[]> {
  const dir = wikiDir(app, project)
  return (await repositoryExists(dir)) ? (await faultsOf(dir)).map((fault) => `wiki: ${fault}`) : []
}

/** Compares the facts in the row with the repository. */
async function factFaults({ db }: App, { id }: Project, dir: string): Promise<string[]> {
  const columns = ['empty_repo', 'default_branch'] as const
  const project = await db.selectFrom('projects').select(columns).where('id', '=', id).executeTakeFirst()
  if (!project) return []
  const faults: string[] = []
  const empty = !(await hasBranches(dir))
  if (empty !== project.empty_repo) faults.push(`the store calls it ${project.empty_repo ? 'empty' : 'not empty'}`)
  const head = await headOf(dir)
  if (head !== project.default_branch) {
    faults.push(`HEAD names ${head ?? 'no branch'}, the store ${project.default_branch}`)
  } else if (!empty && !(await branchExists(dir, head))) faults.push(`the default branch ${head} does not exist`)
  return faults
}

/** HEAD follows the row, because users choose the default branch. The other facts of the row follow the repository. */
async function mendFacts(app: App, project: Project, dir: string): Promise<string[]> {
  const done: string[] = []
  const { default_branch } = project
  if ((await headOf(dir)) !== default_branch) {
    if (!(await branchExists(dir, default_branch))) return done
    await setHead(dir, default_branch)
    done.push(`made HEAD name ${default_branch}`)
  }
  if (!(await hasBranches(dir)) === project.empty_repo) return done
  if (await keepInspected(app, project, await inspectRepository(dir, default_branch)))
    done.push(`noted that it is ${project.empty_repo ? 'not empty' : 'empty'}`)
  return done
}
