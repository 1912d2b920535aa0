import { ATTRIBUTES } from '../instance/settings/attributes.ts'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startForge, type TestForge } from '../../forge.ts'
import { OutgoingFailure } from '../../outbound/client.ts'
import { outboundGuard, type Sender } from '../instance/settings/outbound.ts'
import { currentSettings } from '../instance/settings/queries.ts'
import { isAllowedAddress, sendOut } from './outgoing.ts'

let forge: TestForge
let url: string
let port: number
const seen: string[] = []
const server = createServer((request, response) => {
  seen.push(request.url!)
  response.end('ok')
})

beforeAll(async () => {
  forge = await startForge()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
  url = `http://127.0.0.1:${port}/hook`
  await set(INITIAL)
})
afterAll(async () => {
  await forge[Symbol.asyncDispose]()
  server.close()
})

const INITIAL = {
  allow_local_requests_from_web_hooks_and_services: false,
  allow_local_requests_from_system_hooks: true,
  outbound_local_requests_whitelist: [],
  dns_rebinding_protection_enabled: true,
  deny_all_requests_except_allowed: false,
  silent_mode_enabled: false,
}

const set = async (settings: Record<string, unknown>) =>
  expect((await forge.administrator.put('/application/settings', settings)).status).toBe(200)

afterEach(async () => {
  seen.length = 0
  await set(INITIAL)
})

/** The status, or the reason why no answer came. */
const attempt = async (sender: Sender, at = url) => {
  const answer = await sendOut(forge.app, sender, { method: 'POST', url: at, body: '{}' }).catch(
    (error: Error) => error,
  )
  if (answer instanceof OutgoingFailure) return answer.message
  if (answer instanceof Error) throw answer
  return answer.status
}

const LOCAL = 'Requests to localhost are not allowed'
const UNLISTED = 'Requests to hosts and IP addresses not on the allow list are denied'
const SILENT = 'Nothing is sent while silent mode is on'

test('a new instance keeps hooks of projects from the local network', () => {
  // The test forge overrides these, because its receivers are on this machine.
  const names = Object.keys(INITIAL) as (keyof typeof INITIAL)[]
  expect(Object.fromEntries(names.map((name) => [name, ATTRIBUTES[name].initial]))).toEqual(INITIAL)
})

test.each([
  ['as it begins', INITIAL, LOCAL, 200],
  ['local for hooks', { allow_local_requests_from_web_hooks_and_services: true }, 200, 200],
  ['by the old name', { allow_local_requests_from_hooks_and_services: true }, 200, 200],
  ['none for system hooks', { allow_local_requests_from_system_hooks: false }, LOCAL, LOCAL],
  ['only what is listed', { deny_all_requests_except_allowed: true }, UNLISTED, UNLISTED],
  ['silent', { silent_mode_enabled: true }, SILENT, SILENT],
])('%s', async (_what, settings, hooks, system) => {
  await set(settings)
  expect([await attempt('hooks'), await attempt('system_hooks')]).toEqual([hooks, system])
  expect(seen).toHaveLength([hooks, system].filter((outcome) => outcome === 200).length)
})

test.each([
  ['127.0.0.1', 200],
  ['127.0.0.0/8', 200],
  ['PORT', 200],
  ['127.0.0.1:1, 10.0.0.1', LOCAL],
  ['localhost', LOCAL],
])('on the list: %s', async (entry, expected) => {
  await set({ outbound_local_requests_whitelist: entry.replace('PORT', `10.0.0.1, 127.0.0.1:${port}`) })
  expect(await attempt('hooks')).toBe(expected)
  expect(await isAllowedAddress(forge.app, 'hooks', url)).toBe(expected === 200)
  await set({ deny_all_requests_except_allowed: true })
  expect(await attempt('system_hooks')).toBe(expected === 200 ? 200 : UNLISTED)
})

test('a name on the list may lead anywhere', async () => {
  const named = url.replace('127.0.0.1', 'localhost')
  expect(await attempt('hooks', named)).toBe(LOCAL)
  await set({ outbound_local_requests_whitelist: [`localhost:${port}`], deny_all_requests_except_allowed: true })
  expect(await attempt('hooks', named)).toBe(200)
})

test('the web address of the forge itself may be reached, no other port of it', async () => {
  await set({ deny_all_requests_except_allowed: true })
  expect(await attempt('hooks', `${forge.url}/api/v4/version`)).toBe(405)
  expect(await attempt('hooks', `${forge.url.replace('http:', 'https:')}/api/v4/version`)).toBe(UNLISTED)
  expect(await attempt('hooks')).toBe(UNLISTED)
})

test('the protection against names that turn can be switched off', async () => {
  const pinned = async () => outboundGuard(forge.app, 'hooks', await currentSettings(forge.app)).pinned
  expect(await pinned()).toBe(true)
  await set({ dns_rebinding_protection_enabled: false })
  expect(await pinned()).toBe(false)
})

test('a list that cannot be read is refused, and the old one stays', async () => {
  await set({ outbound_local_requests_whitelist: ['intern.example'] })
  const name = 'outbound_local_requests_whitelist'
  for (const [entries, fault] of [
    [['ok.example', '*.example.com'], "can't include: *.example.com"],
    ['http://intern.example', "can't include: http://intern.example"],
    [Array.from({ length: 1001 }, (_, n) => `host${n}`), 'is too long (maximum is 1000 entries)'],
  ] as const) {
    const answer = await forge.administrator.put('/application/settings', { [name]: entries })
    expect(answer).toMatchObject({ status: 400, body: { message: { [name]: [fault] } } })
  }
  expect((await forge.administrator.get('/application/settings')).body[name]).toEqual(['intern.example'])
  await set({ [name]: Array.from({ length: 1000 }, (_, n) => `host${n}`) })
})

test('everything goes through the proxy, save what is to be reached without', async () => {
  const settings = { OUTBOUND_PROXY: `http://127.0.0.1:${port}`, OUTBOUND_NO_PROXY: 'here.example,127.0.0.1' }
  await using behind = await startForge({ settings })
  const ask = (at: string) => sendOut(behind.app, 'system_hooks', { url: at })
  expect(await ask('http://far.example/a')).toMatchObject({ status: 200 })
  expect(await ask(url)).toMatchObject({ status: 200 })
  await expect(ask('http://here.example/')).rejects.toThrow('The host cannot be resolved')
  expect(seen).toEqual(['http://far.example/a', '/hook'])
})
