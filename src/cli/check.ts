import type { App } from '../context.ts'
import type { Finding } from '../features/repository/checking/findings.ts'
import { CannotStart } from '../config.ts'
import { loadProgram } from './instance.ts'
import { Progress } from './progress.ts'
import type { Verb } from './verb.ts'

export const check: Verb = {
  summary: 'Check the database, and compare it with every repository and blob',
  details: [
    'With the paths of projects it looks at these alone: their repositories, and the commits that rows name.',
    '',
    'It tells a line for each fault and ends with 1 if there is any. What killed processes left (drafts of objects and',
    'refs, locks, half uploads, blobs that no row names) is no fault: it is told once it is old enough to be nobody’s,',
    'the server removes it in time, and --repair at once. It may run beside a server.',
  ].join('\n'),
  rest: 'GROUP/PROJECT',
  flags: {
    repair: { help: 'remove what was left, and mend what can be mended without loss; the rest stays a fault' },
  },
  async run({ config, words, switches }) {
    const { openApp } = await loadProgram()
    await using opened = await openApp(config, { logTo: process.stderr, mustExist: true })
    using progress = new Progress()
    const report = new Report(progress)
    const options = { repair: switches.repair ?? false }
    if (words.length > 0) await checkNamed(opened.app, words, options, report)
    else if (!(await checkAll(opened.app, options, report))) return 1
    return report.end()
  },
}

/** Returns false if the database itself is damaged: then comparing other data with it is meaningless. */
async function checkAll(app: App, options: { repair: boolean }, report: Report): Promise<boolean> {
  const { checkRepositories } = await import('../features/repository/checking/service.ts')
  const { checkFolders, checkLeftovers, checkReferencedBlobs } =
    await import('../features/repository/checking/leftovers.ts')
  report.progress.at('checking the database')
  const broken = await app.store.faults()
  for (const fault of broken) report.progress.print(`database: ${fault}`)
  if (broken.length > 0) return false
  for await (const finding of checkRepositories(app, options)) report.repository(finding)
  for (const some of [checkFolders(app), checkReferencedBlobs(app), checkLeftovers(app, options)])
    for await (const finding of some) report.other(finding)
  return true
}

async function checkNamed(app: App, paths: string[], options: { repair: boolean }, report: Report): Promise<void> {
  const { checkProject } = await import('../features/repository/checking/service.ts')
  const { findProject } = await import('../features/projects/projects/queries.ts')
  for (const path of paths) {
    const project = await findProject(app.db, path)
    if (!project) throw new CannotStart(`there is no project ${path}`)
    report.repository(await checkProject(app, project, path, options))
  }
}

class Report {
  readonly progress: Progress
  #checked = 0
  #faulty = 0
  #strays = 0
  #leftovers = 0

  constructor(progress: Progress) {
    this.progress = progress
  }

  repository(finding: Finding): void {
    this.#checked++
    if (finding.faults.length > 0) this.#faulty++
    this.#tell(finding)
    this.progress.at(`${this.#checked} repositories checked, the last was ${finding.path}`)
  }

  other(finding: Finding): void {
    if (finding.faults.length > 0) this.#strays++
    this.#tell(finding)
    this.progress.at('looking for what was left behind')
  }

  /** Returns the exit code. */
  end(): number {
    const left = this.#leftovers > 0 ? `, ${this.#leftovers} leftovers that --repair removes` : ''
    this.progress.print(`${this.#checked} repositories checked, ${this.#faulty} with faults${left}`)
    return this.#faulty + this.#strays > 0 ? 1 : 0
  }

  #tell({ path, faults, leftovers = [], repairs = [] }: Finding): void {
    this.#leftovers += leftovers.length
    const lines = [
      ...faults,
      ...leftovers.map((name) => `left over: ${name}`),
      ...repairs.map((done) => `repair: ${done}`),
    ]
    for (const line of lines) this.progress.print(`${path}: ${line}`)
  }
}
