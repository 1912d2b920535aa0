import { pageBelow } from '../../../../lib/net/page-below.ts'
import { connect } from 'node:net'
import type { App } from '../../../../context.ts'
import { OutgoingFailure } from '../../../../outbound/client.ts'
import { AddressRefused, resolvePublic } from '../../../../outbound/guard.ts'
import { outboundGuard } from '../../../instance/settings/outbound.ts'
import { currentSettings } from '../../../instance/settings/queries.ts'
import { flag, host, line, longer, port, required, service } from '../declare.ts'
import {
  actorOf,
  cut,
  isCreation,
  isDeletion,
  nameOfRef,
  shortSha,
  textOf,
  titleOfCommit,
  type ServicePayload,
} from '../payload.ts'

const LONGEST_LINE = 400
const MOST_COMMITS = 3
const MOST_CHANNELS = 20
const TIMEOUT_MS = 10_000

/** IRC colour codes. Control characters are removed, because a line break would start another command. */
const plain = (text: string) => text.replace(/\p{Cc}/gu, ' ')
const painted = (isColored: boolean, code: string, text: string) =>
  isColored ? `\x03${code}${plain(text)}\x0F` : plain(text)

/** `#channel` or `channel` of the configured network, or a full URL. */
function channelsOf(recipients: string, network: string): string[] {
  const base = network.replace(/\/+$/, '')
  const found = recipients.split(/\s+/).filter(Boolean).slice(0, MOST_CHANNELS)
  return found.flatMap((name) => {
    const address = /^ircs?:\/\//i.test(name) ? name : base && `${base}/${encodeURIComponent(name)}`
    return address && URL.canParse(address) ? [address] : []
  })
}

/** The lines for irkerd: one JSON object each. */
function irkerLines(payload: ServicePayload): string[] {
  const { body, project, settings } = payload
  const to = channelsOf(textOf(payload, 'recipients'), textOf(payload, 'default_irc_uri'))
  if (to.length === 0) return []
  const isColored = settings.colorize_messages === true
  const name = painted(isColored, '07', project.path_with_namespace)
  const branch = painted(isColored, '06', nameOfRef(body.ref))
  const actor = painted(isColored, '03', actorOf(body))
  const say = (text: string) => JSON.stringify({ to, privmsg: cut(text, LONGEST_LINE) })
  if (isDeletion(body)) return [say(`${name}: ${actor} has deleted branch ${branch}`)]
  const commits = body.commits ?? []
  const total = body.total_commits_count ?? commits.length
  const compare = pageBelow(project.web_url, `compare/${body.before}...${body.after}`)
  const head = isCreation(body)
    ? `${name}: ${actor} has created branch ${branch}: ${pageBelow(project.web_url, `commits/${encodeURI(nameOfRef(body.ref))}`)}`
    : `${name}: ${actor} pushed ${total} new ${total === 1 ? 'commit' : 'commits'} to ${branch}: ${compare}`
  const lines = commits.slice(-MOST_COMMITS).map((commit) => {
    const sha = painted(isColored, '14', shortSha(commit.id))
    return say(`${name}: ${branch} ${sha} ${plain(commit.author?.name ?? '')}: ${plain(titleOfCommit(commit))}`)
  })
  return [say(head), ...lines]
}

/** Connects to exactly the address that was checked, as webhooks do. */
async function sendLines(app: App, payload: ServicePayload, lines: readonly string[]): Promise<void> {
  const settings = await currentSettings(app)
  if (settings.silent_mode_enabled) throw new OutgoingFailure('refused', 'Nothing is sent while silent mode is on')
  const server = textOf(payload, 'server_host') || 'localhost'
  const number = Number(textOf(payload, 'server_port')) || 6659
  const name = server.includes(':') ? `[${server}]` : server
  const address = await resolvePublic(`http://${name}:${number}/`, outboundGuard(app, 'hooks', settings)).catch(
    (error: unknown) => {
      throw error instanceof AddressRefused ? new OutgoingFailure('refused', error.message) : error
    },
  )
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host: address, port: number, timeout: TIMEOUT_MS })
  socket.on('timeout', () => socket.destroy(new Error('The IRC relay does not answer')))
  socket.on('error', reject)
  socket.on('close', () => resolve())
  socket.resume() // ignore the answer
  socket.end(lines.map((one) => `${one}\n`).join(''))
  return promise
}

export const irker = service({
  slug: 'irker',
  title: 'irker (IRC gateway)',
  fields: {
    recipients: required(longer),
    default_irc_uri: line(),
    server_host: host,
    server_port: port(6659),
    colorize_messages: flag(),
  },
  events: ['push'],
  async deliver(app, payload) {
    const lines = irkerLines(payload)
    if (lines.length > 0) await sendLines(app, payload, lines)
  },
})
