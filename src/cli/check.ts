import type { App } from '../context.ts'
import type { Finding } from '../features/repository/checking/findings.ts'
import { CannotStart } from '../config.ts'
import { loadProgram } from './instance.ts'
import { counted } from './counted.ts'
import { Progress } from './progress.ts'
import type { Verb } from './verb.ts'

export const check: Verb = {
  summary: 'Check the database against all repositories and blobs',
  details: [
    'With project paths, only these projects are checked: their repositories, and the commits that the database names.',
    '',
    'Prints one line per error and exits with 1 if there are errors. Files that killed processes left behind (drafts of',
    'objects and refs, locks, partial uploads, unused blobs) are no errors: they are listed once they are old enough,',
    'the server deletes them later, and --repair deletes them now. The server can keep running.',
  ].join('\n'),
  rest: 'GROUP/PROJECT',
  flags: {
    repair: { help: 'delete leftover files and repair everything that can be repaired without data loss' },
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

/** Returns false if the database itself is damaged. */
async function checkAll(app: App, options: { repair: boolean }, report: Report): Promise<boolean> {
  const { checkInstance } = await import('../features/repository/checking/all.ts')
  report.progress.at('checking the database')
  for await (const finding of checkInstance(app, options)) {
    if (finding.subject === 'repository') report.repository(finding)
    else report.other(finding)
    if (finding.subject === 'database') return false
  }
  return true
}

async function checkNamed(app: App, paths: string[], options: { repair: boolean }, report: Report): Promise<void> {
  const { checkProject } = await import('../features/repository/checking/service.ts')
  const { findProject } = await import('../features/projects/projects/queries.ts')
  for (const path of paths) {
    const project = await findProject(app.db, path)
    if (!project) throw new CannotStart(`project ${path} not found`)
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

  get #repositories(): string {
    return counted(this.#checked, 'repository', 'repositories')
  }

  repository(finding: Finding): void {
    this.#checked++
    if (finding.faults.length > 0) this.#faulty++
    this.#tell(finding)
    this.progress.at(`${this.#repositories} checked, the last was ${finding.path}`)
  }

  other(finding: Finding): void {
    if (finding.faults.length > 0) this.#strays++
    this.#tell(finding)
    this.progress.at('looking for leftover files')
  }

  /** Returns the exit code. */
  end(): number {
    const left = this.#leftovers > 0 ? `, ${counted(this.#leftovers, 'leftover file')} that --repair deletes` : ''
    this.progress.print(`${this.#repositories} checked, ${this.#faulty} with errors${left}`)
    return this.#faulty + this.#strays > 0 ? 1 : 0
  }

  #tell({ path, faults, leftovers = [], repairs = [] }: Finding): void {
    this.#leftovers += leftovers.length
    const lines = [
      ...faults,
      ...leftovers.map((name) => `leftover: ${name}`),
      ...repairs.map((done) => `repair: ${done}`),
    ]
    for (const line of lines) this.progress.print(`${path}: ${line}`)
  }
}
