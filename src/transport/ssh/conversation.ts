/** Runs one command of a client, from parsing to its exit code. */
import type { Readable, Writable } from 'node:stream'
import { outageOf } from '../../api/answers.ts'
import { acquireSlot } from '../../api/limiters.ts'
import { countCommand, type SshFigures } from '../../api/metrics.ts'
import type { App } from '../../context.ts'
import { Refusal, readOnlyInstance } from '../../errors.ts'
import { recordActivity } from '../../features/identity/activities/service.ts'
import { assertMayComeFrom } from '../../features/identity/addresses/service.ts'
import { noteKeyUse } from '../../features/identity/keys/use.ts'
import { uploadArchive, uploadPack } from '../../git/fetch/upload.ts'
import { denialOf, learnFacts, projectNotFound, type Facts } from '../access.ts'
import { folderOf } from '../folders.ts'
import { callerOf, personOf, type Principal } from '../principal.ts'
import { lfsTokenFor } from '../lfs/batch.ts'
import type { Operation } from '../lfs/token.ts'
import { findRepository, type RepositoryLocation } from '../locations.ts'
import { receivePush } from '../push.ts'
import { parseCommand, type Command, type GitCommand } from './commands.ts'
import { makeToken } from './personal-access-token.ts'
import { renewCodes } from './recovery-codes.ts'
import { assertStillAllowed, findSshIdentity } from './identities.ts'

const LONGEST_PATH = 500

export interface Conversation {
  /**
   * Absent if another SSH server holds the connection. That server has its own log, and a log of this process would
   * reach the client.
   */
  readonly connection?: { readonly address: string; readonly figures: SshFigures }
  readonly fingerprint: string
  /** Null: the client requested a shell. */
  readonly line: string | null
  /** GIT_PROTOCOL. */
  readonly protocol: string | undefined
  readonly input: Readable
  readonly output: Writable
  readonly errors: Writable
}

export async function converse(app: App, conversation: Conversation): Promise<number> {
  const say = (text: string) => void conversation.errors.write(`Mortise: ${text}\n`)
  const startedAt = performance.now()
  const payload: Payload = { user: null, verb: 'shell', path: null }
  const note = (code: number) => {
    if (!conversation.connection) return code
    const { address: ip, figures } = conversation.connection
    const ms = Math.round(performance.now() - startedAt)
    countCommand(figures, payload.verb, code === 0)
    app.log.info({ part: 'ssh', ...payload, exit: code, ms, ip, fingerprint: conversation.fingerprint }, 'ssh command')
    return code
  }
  try {
    return note(await answer(app, conversation, payload))
  } catch (error) {
    if (error instanceof Refusal) say(error.message)
    // The client has disconnected.
    else if (!conversation.output.destroyed) {
      app.log.warn({ err: error, part: 'ssh' }, 'git command ended early')
      say(outageOf(error)?.message ?? 'The command could not be completed')
    }
    return note(1)
  }
}

/** Fields for the log entry of a command, as far as known. */
interface Payload {
  user: string | null
  verb: Command['verb'] | 'shell' | 'unknown'
  path: string | null
}

async function answer(app: App, conversation: Conversation, payload: Payload): Promise<number> {
  // Checked again for each command, because a connection may outlive its key.
  const identity = await findSshIdentity(app, conversation.fingerprint)
  if (!identity) throw new Refusal('forbidden', 'Your SSH key is not valid any more.')
  const person = personOf(identity.principal)
  payload.user = person?.username ?? null
  if (person && conversation.connection) await assertMayComeFrom(app, person, conversation.connection.address)
  await assertStillAllowed(app, identity.key)
  await noteKeyUse(app, identity.key)
  const welcome = () => {
    conversation.output.write(`Welcome to Mortise, ${identity.name}!\n`)
    return 0
  }
  if (!conversation.line?.trim()) return welcome()
  const command = parseCommand(conversation.line)
  payload.verb = command?.verb ?? 'unknown'
  if (!command) throw new Refusal('forbidden', 'Disallowed command')
  if (command.verb === 'discover') return welcome()
  if (app.config.readOnly && isAccountChange(command)) throw readOnlyInstance()
  if (command.verb === '2fa_recovery_codes') return renewCodes(app, identity.principal, conversation)
  if (command.verb === 'personal_access_token') return makeToken(app, identity.principal, command.words, conversation)
  payload.path = command.path.slice(0, LONGEST_PATH)
  const { location, facts } = await admit(app, identity.principal, command)
  return command.verb === 'lfs-authenticate'
    ? authenticateLfs(app, conversation, location, facts, command.operation)
    : serve(app, conversation, location, facts, command.verb)
}

const isAccountChange = ({ verb }: Command) => verb === '2fa_recovery_codes' || verb === 'personal_access_token'

const isPush = (command: GitCommand) =>
  command.verb === 'receive-pack' || (command.verb === 'lfs-authenticate' && command.operation === 'upload')

async function admit(
  app: App,
  principal: Principal,
  command: GitCommand,
): Promise<{ location: RepositoryLocation; facts: Facts }> {
  const location = await findRepository(app, command.path)
  if (!location) throw projectNotFound()
  const facts = await learnFacts(app, principal, location, { verb: isPush(command) ? 'push' : 'fetch', over: 'ssh' })
  const denial = denialOf(facts)
  if (denial) throw denial
  return { location, facts }
}

async function serve(
  app: App,
  { fingerprint, input, output, errors, protocol }: Conversation,
  location: RepositoryLocation,
  facts: Facts,
  verb: 'upload-pack' | 'receive-pack' | 'upload-archive',
): Promise<number> {
  const dir = await folderOf(app, location, facts.verb)
  const leave = await acquireSlot(app.limiters.transport, callerOf(facts.principal, fingerprint))
  using _ = { [Symbol.dispose]: leave }
  if (verb === 'receive-pack') {
    await receivePush(app, facts, location, dir, { stateless: false, protocol, input, output })
    return 0
  }
  const onStderr = (text: string) => void errors.write(text)
  const { code } =
    verb === 'upload-pack'
      ? await uploadPack(dir, { stateless: false, protocol, input, output, onStderr })
      : await uploadArchive(dir, { input, output, onStderr })
  const person = personOf(facts.principal)
  if (person) await recordActivity(app, person)
  return code
}

/** Tells the client the LFS URL and the credential for it. */
async function authenticateLfs(
  app: App,
  { output }: Conversation,
  location: RepositoryLocation,
  { principal }: Facts,
  operation: Operation,
): Promise<number> {
  const { project, wiki } = location
  if (wiki || !project.lfs_enabled) throw new Refusal('forbidden', 'Git LFS is not enabled for this project.')
  output.write(`${JSON.stringify(lfsTokenFor(app, principal, location, operation))}\n`)
  return 0
}
