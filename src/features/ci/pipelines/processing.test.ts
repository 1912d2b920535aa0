import { expect, test } from 'vitest'
import type { JobStatus, JobWhen } from '../jobs/model.ts'
import { processing, type Processed } from './processing.ts'
import { composedStatus, tallyOf } from './status.ts'

const counted = (text: string) =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({ status: word.replace('?', '') as JobStatus, allow_failure: word.endsWith('?') }))

// `failed?` means: allowed to fail.
test.each([
  ['', null],
  ['skipped skipped', 'skipped'],
  ['manual?', 'skipped'],
  ['manual? skipped', 'skipped'],
  ['failed?', 'success'],
  ['canceled? skipped', 'success'],
  ['success success', 'success'],
  ['success skipped', 'success'],
  ['success failed? manual?', 'success'],
  ['created created', 'created'],
  ['created failed?', 'created'],
  ['preparing', 'preparing'],
  ['success canceled skipped', 'canceled'],
  ['canceled', 'canceled'],
  ['created pending skipped', 'pending'],
  ['pending', 'pending'],
  ['success pending', 'running'],
  ['failed running', 'running'],
  ['success waiting_for_resource', 'waiting_for_resource'],
  ['success manual', 'manual'],
  ['manual created', 'manual'],
  ['success scheduled', 'scheduled'],
  ['success created', 'running'],
  ['failed created', 'running'],
  ['success canceling', 'canceling'],
  ['failed canceling', 'canceling'],
  ['success failed', 'failed'],
  ['failed canceled', 'failed'],
  ['failed skipped', 'failed'],
] as const)('%s comes to %s', (jobs, status) => expect(composedStatus(counted(jobs))).toBe(status))

test('what failed and may is a warning', () => {
  expect(tallyOf(counted('success failed?')).hasWarnings).toBe(true)
  expect(tallyOf(counted('success manual?')).hasWarnings).toBe(false)
})

type Options = Partial<Omit<Processed, 'id' | 'name'>>

function jobsOf(inputs: Record<string, Options>): Processed[] {
  return Object.entries(inputs).map(([name, input], n) => ({
    id: n + 1,
    kind: 'job',
    name,
    stage_position: 0,
    status: 'created',
    when: 'on_success',
    allow_failure: false,
    needs: null,
    has_resource_group: false,
    ...input,
  }))
}

/** The step of each job, by name. */
function after(inputs: Record<string, Options>, options?: Parameters<typeof processing>[1]): Record<string, string> {
  const { steps } = processing(jobsOf(inputs), options)
  const names = Object.keys(inputs)
  return Object.fromEntries(Object.entries(steps).flatMap(([step, ids]) => ids.map((id) => [names[id - 1]!, step])))
}

const second = (input: Options = {}): Options => ({ stage_position: 1, ...input })
const whens: JobWhen[] = ['on_success', 'on_failure', 'always', 'manual', 'delayed']

test.each([
  ['success', ['enqueue', 'skip', 'enqueue', 'actionize', 'schedule']],
  ['skipped', ['enqueue', 'skip', 'enqueue', 'actionize', 'schedule']],
  ['failed', ['skip', 'enqueue', 'enqueue', 'skip', 'skip']],
  ['canceled', ['skip', 'skip', 'skip', 'skip', 'skip']],
  ['running', []],
  ['pending', []],
  ['manual', []],
] as const)('after a stage that is %s', (status, steps) => {
  const later = Object.fromEntries(whens.map((when) => [when, second({ when })]))
  expect(after({ first: { status }, ...later })).toEqual(Object.fromEntries(steps.map((step, n) => [whens[n]!, step])))
})

test('the first stage begins at once, and one that is skipped lets the next begin', () => {
  expect(after({ a: {}, b: second() })).toEqual({ a: 'enqueue' })
  expect(after({ a: { when: 'on_failure' }, b: second() })).toEqual({ a: 'skip', b: 'enqueue' })
  expect(after({ a: { when: 'manual', allow_failure: true }, b: second() })).toEqual({ a: 'actionize', b: 'enqueue' })
  expect(after({ a: { when: 'manual' }, b: second() })).toEqual({ a: 'actionize' })
})

test('a job with needs waits for these alone', () => {
  const a: Options = { status: 'success' }
  const b: Options = { status: 'running' }
  expect(after({ a, b, c: second({ needs: ['a'] }), d: second({ needs: ['a', 'b'] }), e: second() })).toEqual({
    c: 'enqueue',
  })
  expect(after({ a: { status: 'skipped' }, c: second({ needs: ['a'] }) })).toEqual({ c: 'skip' })
  expect(after({ a: { status: 'manual', allow_failure: true }, c: second({ needs: ['a'] }) })).toEqual({ c: 'skip' })
  expect(after({ a: { status: 'failed', allow_failure: true }, c: second({ needs: ['a'] }) })).toEqual({ c: 'enqueue' })
  expect(after({ a: { status: 'failed' }, c: second({ needs: ['a'], when: 'on_failure' }) })).toEqual({ c: 'enqueue' })
  expect(after({ b, c: second({ needs: [] }), d: second({ needs: ['gone'] }) })).toEqual({ c: 'enqueue', d: 'enqueue' })
  // Within one stage the order in the file does not matter.
  expect(after({ x: { needs: ['y'] }, y: { when: 'on_failure' } })).toEqual({ y: 'skip', x: 'skip' })
})

test('what shares a resource waits for it, and one failure may end all', () => {
  expect(after({ a: { has_resource_group: true } })).toEqual({ a: 'wait' })
  const some: Record<string, Options> = { a: { status: 'failed' }, b: { status: 'running' }, c: second() }
  expect(after(some, { on_job_failure: 'all' })).toEqual({ b: 'cancel', c: 'cancel' })
  expect(after({ ...some, a: { status: 'failed', allow_failure: true } }, { on_job_failure: 'all' })).toEqual({})
})

test('done twice nothing is left to do, and a thousand jobs in a row cost a thousand looks', () => {
  const chain = Object.fromEntries(
    Array.from({ length: 1000 }, (_, n) => [
      `j${n}`,
      { needs: n === 0 ? [] : [`j${n - 1}`], when: 'on_failure' as const },
    ]),
  )
  let looks = 0
  const jobs = jobsOf(chain).map((job) => ({
    ...job,
    get needs() {
      looks++
      return job.needs
    },
  }))
  const { steps, status } = processing(jobs.toReversed())
  expect(steps.skip).toHaveLength(1000)
  expect(status).toBe('skipped')
  expect(looks).toBeLessThan(10_000)
  expect(after({ a: { status: 'skipped' }, b: second({ status: 'pending' }) })).toEqual({})
})
