/** The launcher process: only starts programs, with pipes that the server process has opened. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type Socket } from 'node:net'

/** The socket path for the pipes, and the secret that authenticates them. */
export interface Hello {
  readonly path: string
  readonly secret: string
}

export interface LaunchRequest {
  readonly id: number
  readonly words: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly hasInput: boolean
}

export interface Signal {
  readonly id: number
  readonly signal: NodeJS.Signals
}

/** A program has started, has failed to start, or has ended. */
export type LaunchReport =
  | { readonly id: number; readonly what: 'started' }
  | { readonly id: number; readonly what: 'failed'; readonly why: string }
  | {
      readonly id: number
      readonly what: 'ended'
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
    }

interface Order {
  request?: LaunchRequest
  /** By their file descriptor in the program. */
  readonly pipes: (Socket | undefined)[]
}

const orders = new Map<number, Order>()
const programs = new Map<number, ChildProcess>()
/** Orders arrive in ascending order of their ids. */
let newest = 0

function orderOf(id: number): Order {
  const order = orders.get(id) ?? { pipes: [] }
  orders.set(id, order)
  return order
}

function listen({ path, secret }: Hello): void {
  const server = createServer({ allowHalfOpen: true }, (pipe) => {
    pipe.on('error', () => {})
    // No data follows the first line until the program has started.
    pipe.once('data', (line: Buffer) => {
      pipe.pause()
      const [shown, id, descriptor] = line.toString('latin1').trimEnd().split(' ')
      const isTooLate = Number(id) <= newest && !orders.has(Number(id))
      if (shown !== secret || isTooLate) return void pipe.destroy()
      orderOf(Number(id)).pipes[Number(descriptor)] = pipe
      startIfWhole(Number(id))
    })
  })
  // Many programs may open three pipes each at the same time.
  server.listen({ path, backlog: 4096 }, () => process.send?.('ready'))
}

function startIfWhole(id: number): void {
  const { request, pipes } = orderOf(id)
  const [input, output, errors] = pipes
  if (!request || !output || !errors || (request.hasInput && !input)) return
  orders.delete(id)
  const [command, ...args] = request.words
  const { cwd, env } = request
  const program = spawn(command, args, { cwd, env, stdio: [input ?? 'ignore', output, errors], detached: true })
  programs.set(id, program)
  program.once('error', ({ message }) => {
    programs.delete(id)
    tell({ id, what: 'failed', why: message })
  })
  program.once('spawn', () => tell({ id, what: 'started' }))
  program.once('exit', (code, signal) => {
    programs.delete(id)
    tell({ id, what: 'ended', code, signal })
  })
  for (const pipe of pipes) pipe?.destroy()
}

const tell = (event: LaunchReport) => process.connected && process.send?.(event)

function pass({ id, signal }: Signal): void {
  const order = orders.get(id)
  if (order) return cancel(id, order, signal)
  const pid = programs.get(id)?.pid
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All processes of the group have ended meanwhile.
  }
}

/** The pipes may never arrive, because their owner has closed them. */
function cancel(id: number, { pipes }: Order, signal: NodeJS.Signals): void {
  orders.delete(id)
  for (const pipe of pipes) pipe?.destroy()
  tell({ id, what: 'ended', code: null, signal })
}

process.once('disconnect', () => process.exit())
process.on('message', (message: Hello | LaunchRequest | Signal) => {
  if ('secret' in message) return listen(message)
  if ('signal' in message) return pass(message)
  newest = message.id
  orderOf(message.id).request = message
  startIfWhole(message.id)
})
