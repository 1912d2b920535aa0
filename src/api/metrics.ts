/** Figures of this process for `/-/metrics`, in Prometheus' text form. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { App } from '../context.ts'

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void
  text(): Promise<string>
  readonly contentType: string
}

export function createMetrics(app: App): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'mortise_http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  })
  const answers = new Counter({
    name: 'mortise_http_requests_total',
    help: 'Answers by route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  new Gauge({
    name: 'mortise_jobs',
    help: 'Rows of the job queue; dead ones need a look',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const rows = await app.db
        .selectFrom('jobs')
        .groupBy('state')
        .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
        .execute()
      for (const state of ['ready', 'dead'] as const) {
        this.set({ state }, Number(rows.find((row) => row.state === state)?.count ?? 0))
      }
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
  /** Finding a label's place is most of a measurement's cost, so places are kept. */
  const measures = new Map<string, { time: Histogram.Internal<string>; count: Counter.Internal }>()
  return {
    request(method, route, status, seconds) {
      const key = `${method} ${status} ${route}`
      let measure = measures.get(key)
      if (!measure) {
        measure = { time: duration.labels(method, route), count: answers.labels(method, route, String(status)) }
        measures.set(key, measure)
      }
      measure.time.observe(seconds)
      measure.count.inc()
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
