/** The home page of a project with a long history: how much a browser loads, and what rendering costs the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { get, type IncomingMessage } from 'node:http'
import type { GitBench } from './git.ts'
import { wholeProcessorTime } from './reads.ts'
import { ADMINISTRATOR } from './seed.ts'
import { ms, type Row } from './table.ts'

const KB = 1024
const REQUESTS = 100

interface Sent {
  /** Size on the wire. */
  readonly bytes: number
  readonly text: string
}

/** Unlike `fetch`, reports the size before decompression. */
export async function sent(url: string, headers: Record<string, string>): Promise<Sent> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { headers }, resolve).on('error', reject),
  )
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const content = Buffer.concat(chunks)
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  const packing = answer.headers['content-encoding']
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[packing ?? ''] ?? ((bytes: Buffer) => bytes)
  return { bytes: content.length, text: unpack(content).toString() }
}

export const size = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`

/** The page itself, and what a browser must load before it shows anything: styles and blocking scripts. */
export function blockingRequests(html: string): number {
  const head = html.slice(0, html.indexOf('</head>'))
  const styles = attributes(head, /<link rel="stylesheet" href="([^"]+)"/g)
  const scripts = attributes(html, /<script(?![^>]* (?:type="module"|async|defer))[^>]* src="([^"]+)"/g)
  return 1 + styles.length + scripts.length
}

const attributes = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, value]) => value!)

/** The URL of its page. */
export const homeOf = ({ server, address }: Pick<GitBench, 'server' | 'address'>) =>
  `http://127.0.0.1:${server.port}${new URL(address).pathname.replace(/\.git$/, '')}`

export async function pageRows({ server, address, api }: GitBench): Promise<Row[]> {
  const host = `http://127.0.0.1:${server.port}`
  const home = homeOf({ server, address })
  const person = { 'PRIVATE-TOKEN': ADMINISTRATOR, Accept: 'text/html', 'Accept-Encoding': 'br, gzip' }
  const page = await sent(home, person)
  const scripts = attributes(page.text, /<(?:script[^>]* src|link rel="modulepreload" href)="([^"]+)"/g)
  const blocking = blockingRequests(page.text)
  let script = 0
  for (const file of scripts) script += (await sent(host + file, { 'Accept-Encoding': 'br' })).bytes

  const project = api.replace(/\/repository$/, '')
  const calls = [
    `${host}/api/v4/user`,
    project,
    `${api}/tree?per_page=100`,
    `${api}/commits?per_page=1`,
    `${project}/languages`,
  ]
  const cost = async (urls: readonly string[], headers: Record<string, string>) => {
    await sleep(200)
    const before = await wholeProcessorTime(server.pid)
    for (let n = 0; n < REQUESTS; n++) for (const url of urls) await sent(url, headers)
    return ((await wholeProcessorTime(server.pid)) - before) / REQUESTS
  }
  const [drawn, callTime] = [await cost([home], person), await cost(calls, { 'PRIVATE-TOKEN': ADMINISTRATOR })]
  const row = (what: string, ours: string, target: string, met: boolean): Row => ({
    what: `the home of a project: ${what}`,
    ours,
    floor: '',
    ratio: null,
    target,
    met,
  })
  return [
    row('HTML, packed', size(page.bytes), '≤ 30 KB', page.bytes <= 30 * KB),
    row('scripts, packed', size(script), '≤ 35 KB', script <= 35 * KB),
    row('requests before the first paint', String(blocking), '≤ 2', blocking <= 2),
    {
      ...row('processor time over that of its calls', ms(drawn), '≤ 5', drawn <= 5 * callTime),
      floor: ms(callTime),
      ratio: drawn / callTime,
    },
  ]
}
