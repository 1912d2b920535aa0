/**
 * Metrics from prom-client about a process, the store and the disks. Metrics of several processes are added up; metrics
 * that every process reads from the same store or disk are shown once.
 */
import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Registry, type MetricObject } from 'prom-client'
import type { App } from '../context.ts'
import { programs } from '../git/process/launcher.ts'
import { cacheBudget } from '../lib/async/cache-budget.ts'
import { readBackupStatus } from '../store/backup-status.ts'
import { VERSION } from '../version.ts'

export function openRegistry(app: App): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addProcess(registry, app)
  addQueues(registry, app)
  addDisks(registry, app)
  addBackup(registry, app)
  return registry
}

/** Metrics that the library would leave out of a sum, such as the start time, are taken from the first process. */
export function aggregate(processes: readonly MetricObject[][]): Promise<string> {
  const kept = processes.map((metrics) =>
    metrics.map((metric) => (metric.aggregator === 'omit' ? { ...metric, ...shared } : metric)),
  )
  return AggregatorRegistry.aggregate(kept).metrics()
}

const shared = { aggregator: 'first' } as const

function addProcess(registry: Registry, app: App): void {
  const registers = [registry]
  const count = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  count('mortise_store_queries_total', 'Queries sent to the store', () => app.store.queries)
  count('mortise_git_processes_started_total', 'Git processes started', () => programs.started)
  new Gauge({
    name: 'mortise_git_processes',
    help: 'Git processes that run now',
    registers,
    collect() {
      this.set(programs.running)
    },
  })
  new Gauge({ name: 'mortise_read_only', help: '1 if the instance is read-only', ...shared, registers }).set(
    Number(app.config.readOnly),
  )
  new Gauge({
    name: 'mortise_cache_bytes',
    help: 'Approximate memory of the caches',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, weight] of cacheBudget.weights) this.set({ cache }, weight)
    },
  })
  new Gauge({
    name: 'mortise_cache_limit_bytes',
    help: 'Limit of all caches together; it shrinks while memory is short',
    registers,
    collect() {
      this.set(cacheBudget.limit)
    },
  })
  const build = { name: 'mortise_build_info', help: 'The version of the program', labelNames: ['version'] }
  new Gauge({ ...build, ...shared, registers }).set({ version: VERSION }, 1)
}

function addQueues(registry: Registry, app: App): void {
  const registers = [registry]
  new Gauge({
    name: 'mortise_jobs',
    help: 'Rows of the job queue; failing ones are retried, dead ones need a look',
    labelNames: ['state'],
    registers,
    ...shared,
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
    help: 'Webhook deliveries that wait, and those given up in the last days',
    labelNames: ['state'],
    registers,
    ...shared,
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
}

function addDisks(registry: Registry, app: App): void {
  const folders = { data: app.config.data, ...app.config.storages }
  const disk = (name: string, help: string, read: (stats: StatsFs) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['folder'],
      registers: [registry],
      ...shared,
      async collect() {
        for (const [folder, path] of Object.entries(folders)) {
          // A folder that does not exist yet has no metrics.
          const stats = await statfs(path).catch(() => null)
          if (stats) this.set({ folder }, read(stats))
        }
      },
    })
  disk('mortise_disk_free_bytes', 'Free space of the data and repository folders', (s) => s.bavail * s.bsize)
  disk('mortise_disk_size_bytes', 'Size of the disks of the data and repository folders', (s) => s.blocks * s.bsize)
}

/** Before the first capture or proof, there is no age. */
function addBackup(registry: Registry, { config, clock }: App): void {
  if (config.backupUrl === null) return
  new Gauge({
    name: 'mortise_backup_age_seconds',
    help: 'Seconds since the backup had everything, and since a restore was proven',
    labelNames: ['of'],
    registers: [registry],
    ...shared,
    async collect() {
      const { current_at, verified_at } = await readBackupStatus(config.data)
      for (const [of, at] of Object.entries({ backup: current_at, proof: verified_at }))
        if (at !== null) this.set({ of }, (clock.now().getTime() - Date.parse(at)) / 1000)
    },
  })
}
