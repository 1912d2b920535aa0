/** Compares what the store says of repositories with the repositories themselves; changes nothing. */
import type { App } from '../../../context.ts'
import { faultsOf } from '../../../git/storage/integrity.ts'
import { branchExists, hasBranches } from '../../../git/refs/refs.ts'
import { headOf, repositoryExists } from '../../../git/storage/repositories.ts'
import { PROVISIONING } from '../../projects/projects/model.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { checkPools, sharingFaults, type Finding } from './pools.ts'

const PROJECTS_A_TURN = 100

/** Every project in turn, then every pool; sound ones with no faults. */
export async function* checkRepositories(app: App): AsyncGenerator<Finding> {
  yield* checkProjects(app)
  yield* checkPools(app)
}

async function* checkProjects(app: App): AsyncGenerator<Finding> {
  for (let last = 0; ;) {
    const projects = await app.db
      .selectFrom('projects')
      .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
      .selectAll('projects')
      .select('namespaces.full_path')
      .where('projects.id', '>', last)
      .where('projects.deleting', '=', false)
      .orderBy('projects.id')
      .limit(PROJECTS_A_TURN)
      .execute()
    for (const { full_path, ...project } of projects) {
      yield { path: `${full_path}/${project.path}`, faults: await faultsOfProject(app, project) }
    }
    if (projects.length < PROJECTS_A_TURN) return
    last = projects.at(-1)!.id
  }
}

async function faultsOfProject(app: App, project: Project): Promise<string[]> {
  const dir = repositoryDir(app, project)
  if (!(await repositoryExists(dir))) return ['there is no repository']
  const faults = [...(await sharingFaults(app, project, dir)), ...(await faultsOf(dir))]
  // A broken one answers nothing more; what is on its way may be seen in between.
  if (faults.length > 0 || PROVISIONING.includes(project.import_status)) return faults
  const empty = !(await hasBranches(dir))
  if (empty !== project.empty_repo) faults.push(`the store calls it ${project.empty_repo ? 'empty' : 'not empty'}`)
  const head = await headOf(dir)
  if (head !== project.default_branch) {
    faults.push(`HEAD names ${head ?? 'no branch'}, the store ${project.default_branch}`)
  } else if (!empty && !(await branchExists(dir, head))) faults.push(`the default branch ${head} does not exist`)
  return faults
}
