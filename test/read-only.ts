/** A second server in read-only mode, over the data of a forge. */
import { serve, type Forge } from '../src/app.ts'
import type { Config } from '../src/config.ts'
import { Client, type Person, type TestForge } from '../src/forge.ts'
import type { Mail } from '../src/mail/mailer.ts'

export interface ReadOnlyServer extends AsyncDisposable {
  readonly running: Forge
  readonly url: string
  readonly mails: readonly Mail[]
  readonly visitor: Client
  /** The same caller, at this server. */
  as(person: Pick<Person, 'headers'>): Client
}

export const readOnlyConfig = ({ app: { config } }: TestForge): Config => ({
  ...config,
  port: 0,
  url: null,
  sshPort: config.sshPort === null ? null : 0,
  readOnly: true,
})

/**
 * The forge does no work in the background any more, so what changes from here on was changed by a request.
 *
 * `ahead`: milliseconds that its clock is ahead. Work that is not due for the forge is due here.
 */
export async function startReadOnly(forge: TestForge, { ahead = 0 } = {}): Promise<ReadOnlyServer> {
  await forge.stopWorker()
  const mails: Mail[] = []
  const clock = { now: () => new Date(forge.clock.now().getTime() + ahead) }
  const quick = { durable: false, heartbeat: false, checkOutput: true }
  const running = await serve(readOnlyConfig(forge), { clock, onMail: (mail) => mails.push(mail), ...quick })
  const { url } = running.app
  return {
    running,
    url,
    mails,
    visitor: new Client(url),
    as: ({ headers }) => new Client(url, headers),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}
