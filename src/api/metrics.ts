/** Figures of this process for `/-/metrics`, in Prometheus' text form. */
import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { App } from '../context.ts'
import { programs } from '../git/process/launcher.ts'
import { VERSION } from '../version.ts'

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void
  readonly ssh: SshFigures
  text(): Promise<string>
  readonly contentType: string
}

export interface SshFigures {
  /** Open now. */
  connections: number
  /** By verb and outcome. */
  readonly commands: Map<string, number>
}

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

interface Measured {
  labels: string
  status: number
  seconds: number
  count: number
  /** How many took at most that long, bucket by bucket, each counted once. */
  within: number[]
}

/**
 * Requests are counted here by hand, because a library's labels would cost more than the count; everything else is asked
 * of the library when somebody looks.
 */
export function createMetrics(app: App): Metrics {
  const measured: Measured[] = []
  const ssh: SshFigures = { connections: 0, commands: new Map() }
  // One key of three would be put together and hashed anew for each request.
  const known = new Map<string, Map<number, Map<string, Measured>>>()
  let process: Promise<{ metrics(): Promise<string>; contentType: string }> | null = null
  return {
    request(method, route, status, seconds) {
      let one = known.get(route)?.get(status)?.get(method)
      if (!one) {
        const labels = `method="${method}",route=${JSON.stringify(route)}`
        measured.push((one = { labels, status, seconds: 0, count: 0, within: BUCKETS.map(() => 0) }))
        const ofRoute = known.get(route) ?? new Map<number, Map<string, Measured>>()
        const ofStatus = ofRoute.get(status) ?? new Map<string, Measured>()
        known.set(route, ofRoute.set(status, ofStatus.set(method, one)))
      }
      one.count++
      one.seconds += seconds
      const bucket = BUCKETS.findIndex((bound) => seconds <= bound)
      if (bucket >= 0) one.within[bucket]!++
    },
    ssh,
    async text() {
      process ??= processMetrics(app)
      return `${requestMetrics(measured)}${sshMetrics(ssh)}${await (await process).metrics()}`
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  }
}

function requestMetrics(all: Measured[]): string {
  const total = 'mortise_http_requests_total'
  const time = 'mortise_http_request_duration_seconds'
  const lines = [`# HELP ${total} Answers by route and status`, `# TYPE ${total} counter`]
  for (const { labels, status, count } of all) lines.push(`${total}{${labels},status="${status}"} ${count}`)
  lines.push(`# HELP ${time} Time from request to answer`, `# TYPE ${time} histogram`)
  for (const group of Object.values(Object.groupBy(all, ({ labels }) => labels))) {
    const [{ labels }] = group as [Measured]
    const sum = (of: (one: Measured) => number) => group!.reduce((sum, one) => sum + of(one), 0)
    let below = 0
    for (const [i, bound] of BUCKETS.entries()) {
      below += sum(({ within }) => within[i]!)
      lines.push(`${time}_bucket{${labels},le="${bound}"} ${below}`)
    }
    lines.push(`${time}_bucket{${labels},le="+Inf"} ${sum(({ count }) => count)}`)
    lines.push(
      `${time}_sum{${labels}} ${sum(({ seconds }) => seconds)}`,
      `${time}_count{${labels}} ${sum(({ count }) => count)}`,
    )
  }
  return `${lines.join('\n')}\n`
}

function sshMetrics({ connections, commands }: SshFigures): string {
  const [open, total] = ['mortise_ssh_connections', 'mortise_ssh_commands_total']
  return [
    `# HELP ${open} SSH connections open now`,
    `# TYPE ${open} gauge`,
    `${open} ${connections}`,
    `# HELP ${total} Commands over SSH by verb and outcome`,
    `# TYPE ${total} counter`,
    ...[...commands].map(([labels, count]) => `${total}{${labels}} ${count}`),
    '',
  ].join('\n')
}

export function countCommand({ commands }: SshFigures, verb: string, isDone: boolean): void {
  const labels = `verb="${verb}",outcome="${isDone ? 'done' : 'failed'}"`
  commands.set(labels, (commands.get(labels) ?? 0) + 1)
}

/** Loaded when first asked for: it is a tenth of the time to start. */
async function processMetrics(app: App) {
  const { Gauge, Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'mortise_jobs',
    help: 'Rows of the job queue; failing ones are tried again, dead ones need a look',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const rows = await app.db
        .selectFrom('jobs')
        .groupBy('state')
        .select((eb) => ['state', eb.fn.countAll<number>().as('count'), eb.fn.count<number>('last_error').as('failed')])
        .execute()
      const [ready, dead] = ['ready', 'dead'].map((state) => rows.find((row) => row.state === state))
      this.set({ state: 'ready' }, Number(ready?.count ?? 0))
      this.set({ state: 'failing' }, Number(ready?.failed ?? 0))
      this.set({ state: 'dead' }, Number(dead?.count ?? 0))
    },
  })
  new Gauge({
    name: 'mortise_deliveries',
    help: 'What waits for receivers outside, and what was given up in the last days',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const rows = await app.db
        .selectFrom('hook_deliveries')
        .where('state', 'in', ['waiting', 'given_up'])
        .groupBy('state')
        .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
        .execute()
      for (const state of ['waiting', 'given_up'] as const)
        this.set({ state }, Number(rows.find((row) => row.state === state)?.count ?? 0))
    },
  })
  new Gauge({
    name: 'mortise_store_queries',
    help: 'Queries sent to the store by this process',
    registers: [registry],
    collect() {
      this.set(app.store.queries)
    },
  })
  new Gauge({
    name: 'mortise_build_info',
    help: 'The version of the program',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1)
  new Gauge({
    name: 'mortise_git_processes',
    help: 'Git processes of this process that run now',
    registers: [registry],
    collect() {
      this.set(programs.running)
    },
  })
  new Gauge({
    name: 'mortise_git_processes_started',
    help: 'Git processes that this process has started',
    registers: [registry],
    collect() {
      this.set(programs.started)
    },
  })
  const folders = { data: app.config.data, ...app.config.storages }
  const disk = (name: string, help: string, read: (found: StatsFs) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['folder'],
      registers: [registry],
      async collect() {
        for (const [folder, path] of Object.entries(folders)) {
          // One that is not there yet has nothing to tell.
          const found = await statfs(path).catch(() => null)
          if (found) this.set({ folder }, read(found))
        }
      },
    })
  disk(
    'mortise_disk_free_bytes',
    'Room left where the data and the repositories are',
    (found) => found.bavail * found.bsize,
  )
  disk(
    'mortise_disk_size_bytes',
    'Room in all where the data and the repositories are',
    (found) => found.blocks * found.bsize,
  )
  return registry
}
