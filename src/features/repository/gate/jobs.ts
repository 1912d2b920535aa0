import { DAY } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { prepareLastCommits } from '../../../git/history/last-commits.ts'
import { countLoose } from '../../../git/refs/ref-files.ts'
import { branchExists, listBranches, resolveRef } from '../../../git/refs/refs.ts'
import { hasBitmap, headOf, packRefs, repositoryExists, setHead } from '../../../git/storage/repositories.ts'
import { sweepRepository } from '../../../git/storage/sweep.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { scheduleTidying } from '../../projects/housekeeping/jobs.ts'
import { inspectRepository } from '../../projects/repositories/inspection.ts'
import { keepInspected } from '../../projects/projects/activity.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { keepLanguages } from '../languages/service.ts'

/**
 * Updates sizes and counts of a changed repository, and warms the caches of its pages. Many pushes at once need one
 * run.
 */
export const inspectLater = job<{ id: number }>(
  'projects.inspect',
  async (app, { id }, signal) => {
    const project = await findProjectById(app.db, id)
    if (!project) return
    const dir = repositoryDir(app, project)
    if (!(await repositoryExists(dir))) return
    await sweepRepository(dir, { before: new Date(Date.now() - DAY) })
    await nameBornBranch(dir, project.default_branch)
    const tip = () => resolveRef(dir, `refs/heads/${project.default_branch}`)
    const seen = await tip()
    const inspected = await inspectRepository(dir, project.default_branch)
    // Two runs may overlap. A run that read the state before the newest push must not write last.
    const isCurrent = (await keepInspected(app, project, inspected)) && (await tip()) === seen
    if (!isCurrent) return scheduleInspection(app, project)
    await keepLanguages(app, { ...project, default_branch: inspected.default_branch })
    if (inspected.commit_count > 0) await prepareLastCommits(dir, `refs/heads/${inspected.default_branch}`, signal)
    if ((await countLoose(dir)) > MOST_LOOSE_REFS) await packRefs(dir, signal)
    // The bitmap of a fork is in its pool.
    const isLarge = inspected.repository_size > LARGE && project.pool_id === null
    if (isLarge && !(await hasBitmap(dir))) await scheduleTidying(app, project)
  },
  { long: true },
)

/** Above this size, a clone is notably slower without a bitmap, which is missing after a first push. */
const LARGE = 5 * 1024 * 1024

/** Every fetch and push reads each loose ref. */
const MOST_LOOSE_REFS = 20

/** Repairs HEAD after a first push whose process ended before it set HEAD. */
async function nameBornBranch(dir: string, usual: string): Promise<void> {
  const head = await headOf(dir)
  if (head !== null && (await branchExists(dir, head))) return
  const { items } = await listBranches(dir, { limit: 1 })
  const born = (await branchExists(dir, usual)) ? usual : items[0]?.name
  if (born !== undefined) await setHead(dir, born)
}

const TOGETHER_MS = 5000

/**
 * Inspects the repository once for all pushes of a few seconds, after these seconds, so that none is missed. A new
 * project is also inspected at once.
 */
export async function scheduleInspection(
  app: App,
  { id, empty_repo }: Pick<Project, 'id' | 'empty_repo'>,
): Promise<void> {
  const moment = Math.floor(app.clock.now().getTime() / TOGETHER_MS)
  await enqueue(app, inspectLater, { id }, { key: `projects.inspect ${id} ${moment}`, delay: TOGETHER_MS })
  if (empty_repo) await enqueue(app, inspectLater, { id }, { key: `projects.inspect ${id} first` })
}
