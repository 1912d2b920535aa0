/** Metrics for `/-/metrics` in Prometheus' text format: of this process, or of all HTTP processes of the machine. */
import type { MetricObject, Registry } from 'prom-client'
import type { App } from '../context.ts'

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void
  readonly ssh: SshFigures
  /** Metrics of this process, as plain data that can be sent to another process. */
  figures(): Promise<Figures>
  /** Of all processes. */
  text(): Promise<string>
  readonly contentType: string
}

export interface Figures {
  readonly requests: readonly Measured[]
  readonly ssh: { readonly connections: number; readonly commands: readonly (readonly [string, number])[] }
  readonly process: MetricObject[]
}

/**
 * Collects the metrics of every HTTP process of the machine, this one included; null if there is no collecting process.
 */
export type CollectFigures = () => Promise<Figures[] | null>

export interface SshFigures {
  /** Currently open. */
  connections: number
  /** By command and result. */
  readonly commands: Map<string, number>
}

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

interface Measured {
  labels: string
  status: number
  seconds: number
  count: number
  /** The number of requests per histogram bucket, each counted in one bucket. */
  within: number[]
}

/**
 * Requests are counted here without the library, because its labels would cost more than the count. Everything else
 * comes from the library when the metrics are requested.
 */
export function createMetrics(app: App, collect: CollectFigures = async () => null): Metrics {
  const measured: Measured[] = []
  const ssh: SshFigures = { connections: 0, commands: new Map() }
  // Nested maps: one combined key would be built and hashed for each request.
  const known = new Map<string, Map<number, Map<string, Measured>>>()
  // Imported on first use: the library takes a tenth of the start time.
  const library = () => import('./process-metrics.ts')
  let registry: Promise<Registry> | null = null
  const figures = async (): Promise<Figures> => {
    registry ??= library().then(({ openRegistry }) => openRegistry(app))
    const { connections, commands } = ssh
    return {
      requests: measured,
      ssh: { connections, commands: [...commands] },
      process: await (await registry).getMetricsAsJSON(),
    }
  }
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
    figures,
    async text() {
      const all = (await collect()) ?? [await figures()]
      const { aggregate } = await library()
      return `${requestMetrics(sumRequests(all))}${sshMetrics(sumSsh(all))}${await aggregate(all.map(({ process }) => process))}`
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  }
}

function sumRequests(all: readonly Figures[]): Measured[] {
  const sums = new Map<string, Measured>()
  for (const one of all.flatMap(({ requests }) => requests)) {
    const key = `${one.labels} ${one.status}`
    const sum = sums.get(key)
    if (!sum) sums.set(key, { ...one, within: [...one.within] })
    else {
      sum.count += one.count
      sum.seconds += one.seconds
      for (const [bucket, count] of one.within.entries()) sum.within[bucket]! += count
    }
  }
  return [...sums.values()]
}

function sumSsh(all: readonly Figures[]): SshFigures {
  const sum: SshFigures = { connections: 0, commands: new Map() }
  for (const { ssh } of all) {
    sum.connections += ssh.connections
    for (const [labels, count] of ssh.commands) sum.commands.set(labels, (sum.commands.get(labels) ?? 0) + count)
  }
  return sum
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
