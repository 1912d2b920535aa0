import { expect, test } from 'vitest'
import { deliveryReceiver } from '../delivery-receiver.ts'
import { call, expectCutOff, start, withInstance } from './merge-crash.ts'

const ISSUES = 12

test(
  'what a killed server had not noted is sent again with the same key, in order, and none is left out',
  {
    timeout: 180_000,
  },
  async () => {
    await using receiver = await deliveryReceiver()
    await withInstance(async (settings) => {
      {
        await using server = start(settings)
        const url = await server.url()
        await call(url, 'PUT', '/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
        await call(url, 'POST', '/projects', { path: 'told' })
        const input = { url: receiver.url, push_events: false, issues_events: true }
        const { id } = await call(url, 'POST', '/projects/1/hooks', input)
        for (let n = 1; n < ISSUES; n++) await call(url, 'POST', '/projects/1/issues', { title: `${n}` })
        // Recorded, not only received: the next recorded delivery kills the server.
        const noted = async () => (await call(url, 'GET', `/projects/1/hooks/${id}/events?status=200`)).length
        await expect.poll(noted, { timeout: 30_000 }).toBe(ISSUES - 1)
        // Received, but its result was not recorded.
        const die = 'anyone before update "hook_deliveries"'
        await expectCutOff(call(url, 'POST', '/projects/1/issues', { title: `${ISSUES}` }, die), die)
        expect(await server.ended()).toBe('SIGKILL')
      }
      {
        await using server = start(settings)
        const url = await server.url()
        await call(url, 'POST', '/projects/1/issues', { title: 'after' })
        const titles = () => receiver.got.map(({ body }) => body.object_attributes.title as string)
        await expect.poll(titles, { timeout: 30_000 }).toContain('after')
        const numbers = Array.from({ length: ISSUES }, (_, n) => `${n + 1}`)
        expect(titles()).toEqual([...numbers, `${ISSUES}`, 'after'])
        const [first, again] = receiver.got.filter(({ body }) => body.object_attributes.title === `${ISSUES}`)
        expect(again!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
        expect(again!.text).toBe(first!.text)
      }
    })
  },
)
