/**
 * Runs scripts in containers with the command line client of docker or podman. The agent handles git, caches and
 * artifacts outside the container. So the container can write only to the checkout. With write access to the parent
 * folders, a job could place links where the agent writes next.
 */
import { connect } from 'node:net'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../../lib/files/system-errors.ts'
import type { Executor, ExecutorJob, OpenExecutor, ScriptRun } from './executor.ts'
import { JobFailed, type Image, type Service } from './job.ts'
import { runProgram, type Environment } from './processes.ts'
import { quoted } from './scripts.ts'

export interface ContainerOptions {
  /** The default image. */
  readonly image: string
  /** `docker` or `podman`. Default: the first one that is installed. */
  readonly client?: string
  readonly serviceWaitMs?: number
}

const CLIENTS = ['docker', 'podman']
const MOUNT = '/mortise'
const SERVICE_WAIT_MS = 30_000
const POLL_MS = 200
const LONGEST_ANSWER = 1024 ** 2
const CLEAN_UP_MS = 60_000

export function containerExecutor(options: ContainerOptions): Executor {
  return {
    name: 'container',
    exitWord: 'exit code',
    mountedAt: MOUNT,
    isIsolated: true,
    open: (given) => Promise.resolve(new Containers(given, options)),
  }
}

function findClient(environment: Environment): string {
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean)
  const found = CLIENTS.find((client) => folders.some((folder) => existsSync(join(folder, client))))
  if (!found) throw new JobFailed('runner_system_failure', 'neither docker nor podman is installed')
  return found
}

const POLICIES = ['always', 'if-not-present', 'never']

class Containers implements OpenExecutor {
  readonly #given: ExecutorJob
  readonly #options: ContainerOptions
  readonly #client: string
  readonly #name: string
  readonly #environment: Environment
  /** A folder for registry credentials, separate from those of the user who runs the agent. */
  readonly #config: string
  /** The label of everything that is created for jobs of this slot. */
  readonly #label: string
  readonly #made: string[] = []
  readonly #image: Image
  #hasNetwork = false
  #runs = 0

  constructor(given: ExecutorJob, options: ContainerOptions) {
    this.#given = given
    this.#options = options
    this.#client = options.client ?? findClient(given.environment)
    this.#name = `mortise-${given.job.id}-${randomBytes(4).toString('hex')}`
    this.#config = `${dirname(given.workspace.hostFolders.builds)}.client`
    this.#label = `mortise.slot=${dirname(given.workspace.hostFolders.builds)}`
    const { image } = given.job
    const expand = (text: string) => given.variables.expand(text)
    this.#image = { ...(image ?? NO_IMAGE), name: expand(image?.name ?? '') || options.image }
    const file = join(this.#config, 'config.json')
    this.#environment = given.job.credentials.some(({ type }) => type === 'registry')
      ? { ...given.environment, DOCKER_CONFIG: this.#config, REGISTRY_AUTH_FILE: file }
      : given.environment
  }

  async prepare(signal: AbortSignal): Promise<void> {
    const { say, job } = this.#given
    await this.#sweep(signal)
    await this.#writeCredentials()
    await say(`Using ${this.#client} with image ${this.#image.name} ...`)
    await this.#pull(this.#image, signal)
    if (job.services.length === 0) return
    await this.#answerOf(['network', 'create', '--label', this.#label, this.#name], signal)
    this.#hasNetwork = true
    const started: { service: Service; name: string }[] = []
    for (const [n, service] of job.services.entries())
      started.push({ service, name: await this.#startService(service, n, signal) })
    await say('Waiting for services to be up and running...')
    await Promise.all(started.map(({ service, name }) => this.#awaitService(service, name, signal)))
  }

  async run({ script, stage, signal }: ScriptRun): Promise<number> {
    const { workspace, output } = this.#given
    const file = `${stage}.sh`
    const scriptPath = join(workspace.hostFolders.temporary, file)
    await writeFile(scriptPath, this.#trusting(script))
    // The user of the image must be able to read the script.
    await chmod(scriptPath, 0o644)
    // A hook runs before the checkout exists.
    await mkdir(workspace.hostFolders.project, { recursive: true })
    const name = `${this.#name}-build-${this.#runs++}`
    this.#made.push(name)
    const { entrypoint } = this.#image
    const args = [
      'run',
      '--rm',
      '--name',
      name,
      ...this.#shared(this.#image),
      '--volume',
      `${workspace.hostFolders.project}:${workspace.seen.project}`,
      '--volume',
      `${workspace.hostFolders.temporary}:${workspace.seen.temporary}:ro`,
      '--workdir',
      workspace.seen.builds,
      // An empty text disables the entrypoint of the image, like an empty entrypoint in the job.
      ...(entrypoint.length > 0 ? ['--entrypoint', entrypoint[0]!] : []),
      this.#image.name,
      ...entrypoint.slice(1),
      'sh',
      '-c',
      'if command -v bash >/dev/null 2>&1; then exec bash "$0"; else exec sh "$0"; fi',
      `${workspace.seen.temporary}/${file}`,
    ]
    const stop = () => void this.#quietly(['kill', name])
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await this.#run(args, output, signal)
    } finally {
      signal.removeEventListener('abort', stop)
      // The client may have ended before its container.
      await this.#quietly(['rm', '--force', name])
    }
  }

  async remove(folder: string): Promise<void> {
    try {
      await rm(folder, { recursive: true, force: true })
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM')) throw error
      // Files that belong to users of the container can only be deleted from inside a container.
      const scope = ['--volume', `${folder}:${MOUNT}`, '--user', '0', '--entrypoint', 'sh']
      const script = `rm -rf -- ${MOUNT}/* ${MOUNT}/.[!.]* ${MOUNT}/..?*`
      await this.#quietly(['run', '--rm', '--network', 'none', ...scope, this.#image.name, '-c', script])
      await rm(folder, { recursive: true, force: true })
    }
  }

  async close(): Promise<void> {
    if (this.#made.length > 0) await this.#quietly(['rm', '--force', '--volumes', ...this.#made])
    if (this.#hasNetwork) await this.#quietly(['network', 'rm', this.#name])
    await rm(this.#config, { recursive: true, force: true })
  }

  /** Removes containers that a killed agent left. A slot runs one job at a time. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const filter = ['--filter', `label=${this.#label}`]
    const left = await this.#answerOf(['ps', '--all', '--quiet', ...filter], signal)
    const ids = left.split(/\s+/).filter((id) => /^[0-9a-f]{12,64}$/.test(id))
    if (ids.length === 0) return
    await this.#quietly(['rm', '--force', '--volumes', ...ids], signal)
    await this.#quietly(['network', 'prune', '--force', ...filter], signal)
  }

  /** Makes git in the container trust the checkout, which belongs to another user there. */
  #trusting(script: string): string {
    if (this.#given.variables.get('GIT_CONFIG_COUNT') !== '') return script
    const folder = quoted(this.#given.workspace.seen.project)
    return `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=${folder}\n${script}`
  }

  #shared({ executor_opts: options }: Image): string[] {
    const platform = this.#given.variables.expand(options?.docker?.platform ?? '')
    const user = this.#given.variables.expand(options?.docker?.user ?? '')
    return [
      '--label',
      this.#label,
      ...(this.#hasNetwork ? ['--network', this.#name] : []),
      ...(platform ? [`--platform=${platform}`] : []),
      ...(user ? [`--user=${user}`] : []),
    ]
  }

  /** Tries each allowed pull policy in order. */
  async #pull({ name, pull_policy: listed, executor_opts: options }: Image, signal: AbortSignal): Promise<void> {
    // The name becomes a command line argument, so it must not start like a flag.
    if (!/^[a-z0-9][\w./:@-]*$/i.test(name) || name.length > 1000)
      throw new JobFailed('runner_configuration_error', `invalid image name: ${name.slice(0, 200)}`)
    const { say, output } = this.#given
    const policies = listed.length > 0 ? listed : ['always']
    if (policies.some((policy) => !POLICIES.includes(policy)))
      throw new JobFailed('runner_configuration_error', `unknown pull policy: ${policies.join(', ').slice(0, 200)}`)
    for (const policy of policies) {
      const isPulled = policy !== 'always' && (await this.#quietly(['image', 'inspect', name], signal)) === 0
      if (isPulled) return
      if (policy === 'never') continue
      await say(`Pulling ${this.#client} image ${name} ...`)
      const platform = this.#given.variables.expand(options?.docker?.platform ?? '')
      const args = ['pull', '--quiet', ...(platform ? [`--platform=${platform}`] : []), name]
      if ((await this.#run(args, output, signal)) === 0) return
    }
    throw new JobFailed('image_pull_failure', `failed to pull image ${name} with policies ${policies.join(', ')}`)
  }

  async #startService(service: Service, n: number, signal: AbortSignal): Promise<string> {
    const { say, variables } = this.#given
    const image = { ...service, name: variables.expand(service.name) }
    await say(`Starting service ${image.name} ...`)
    await this.#pull(image, signal)
    const name = `${this.#name}-service-${n}`
    this.#made.push(name)
    const file = await this.#serviceVariables(service, n)
    const { entrypoint, command } = image
    const aliases = aliasesOf(variables.expand(service.alias), image.name)
    await this.#answerOf(
      [
        'run',
        '--detach',
        '--name',
        name,
        ...this.#shared(image),
        ...aliases.flatMap((alias) => ['--network-alias', alias]),
        '--env-file',
        file,
        ...(entrypoint.length > 0 ? ['--entrypoint', entrypoint[0]!] : []),
        image.name,
        ...entrypoint.slice(1),
        ...command,
      ],
      signal,
    )
    return name
  }

  /**
   * Public variables of the job, then those of the service. Written to a file, because every local user can read
   * command lines.
   */
  async #serviceVariables(service: Service, n: number): Promise<string> {
    const { variables } = this.#given
    const all = new Map(variables.environment({ onlyPublic: true }))
    for (const { key, value, raw } of service.variables)
      if (/^[A-Za-z_]\w*$/.test(key)) all.set(key, raw ? value : variables.expand(value))
    // The format of the file cannot express line breaks.
    const lines = [...all].filter(([, value]) => !/[\r\n]/.test(value)).map(([key, value]) => `${key}=${value}\n`)
    await mkdir(this.#config, { recursive: true, mode: 0o700 })
    const file = join(this.#config, `service-${n}.env`)
    await writeFile(file, lines.join(''), { mode: 0o600 })
    return file
  }

  /**
   * Waits until the service is healthy if the image defines a health check, or else until its exposed port accepts
   * connections.
   */
  async #awaitService(service: Service, name: string, signal: AbortSignal): Promise<void> {
    const { warn } = this.#given
    const until = performance.now() + (this.#options.serviceWaitMs ?? SERVICE_WAIT_MS)
    let last = 'it did not answer'
    while (performance.now() < until) {
      signal.throwIfAborted()
      const state = stateOf(await this.#answerOf(['inspect', name], signal))
      if (!state.isRunning) {
        last = 'it has ended'
        break
      }
      if (state.health === 'healthy') return
      if (state.health === null && (state.ports.length === 0 || (await isOpen(state.address, state.ports[0]!)))) return
      await sleep(POLL_MS, null, { signal })
    }
    await warn(`Service ${service.name} probably didn't start properly: ${last}`)
    await this.#run(['logs', '--tail', '50', name], this.#given.output, signal)
  }

  async #writeCredentials(): Promise<void> {
    const registries = this.#given.job.credentials.filter(({ type }) => type === 'registry')
    if (registries.length === 0) return
    const auths = Object.fromEntries(
      registries.map(({ url, username, password }) => [url, { auth: btoa(`${username}:${password}`) }]),
    )
    await mkdir(this.#config, { recursive: true, mode: 0o700 })
    await writeFile(join(this.#config, 'config.json'), JSON.stringify({ auths }), { mode: 0o600 })
  }

  #run(args: string[], output: (chunk: Buffer) => Promise<void> | void, signal?: AbortSignal): Promise<number> {
    const { mark, workspace } = this.#given
    const cwd = dirname(workspace.hostFolders.builds)
    const command = this.#client
    return runProgram({ command, args, cwd, environment: this.#environment, mark, output, signal })
  }

  /** For commands that may fail. The end of the job does not stop them, but a timeout does. */
  #quietly(args: string[], signal: AbortSignal = AbortSignal.timeout(CLEAN_UP_MS)): Promise<number> {
    return this.#run(args, () => {}, signal).catch(() => -1)
  }

  async #answerOf(args: string[], signal: AbortSignal): Promise<string> {
    let text = ''
    const output = (chunk: Buffer) => {
      if (text.length < LONGEST_ANSWER) text += chunk.toString('utf8')
    }
    const code = await this.#run(args, output, signal)
    signal.throwIfAborted()
    if (code !== 0)
      throw new JobFailed('runner_system_failure', `${this.#client} ${args[0]}: ${text.trim().slice(0, 500)}`)
    return text
  }
}

const NO_IMAGE: Image = { name: '', entrypoint: [], pull_policy: [], executor_opts: null }

/** The configured alias, and the image name in both spellings that are valid host names. */
function aliasesOf(alias: string, image: string): string[] {
  const given = alias.split(/[\s,]+/).filter(Boolean)
  const path = image.replace(/@.*$/, '').replace(/:[^/:]*$/, '')
  const all = [...given, path.replaceAll('/', '__'), path.replaceAll('/', '-')]
  return [...new Set(all)].filter((name) => /^[a-z0-9][\w.-]*$/i.test(name))
}

interface ContainerState {
  readonly isRunning: boolean
  readonly health: string | null
  readonly address: string
  readonly ports: number[]
}

interface Inspected {
  readonly State?: { readonly Running?: boolean; readonly Health?: { readonly Status?: string } }
  readonly Config?: { readonly ExposedPorts?: Record<string, unknown> | null }
  readonly NetworkSettings?: { readonly Networks?: Record<string, { readonly IPAddress?: string }> }
}

function stateOf(text: string): ContainerState {
  const [found] = JSON.parse(text) as Inspected[]
  const ports = Object.keys(found?.Config?.ExposedPorts ?? {}).flatMap((port) => /^(\d+)\/tcp$/.exec(port)?.[1] ?? [])
  const [network] = Object.values(found?.NetworkSettings?.Networks ?? {})
  return {
    isRunning: found?.State?.Running === true,
    health: found?.State?.Health?.Status || null,
    address: network?.IPAddress ?? '',
    ports: ports.map(Number).toSorted((a, b) => a - b),
  }
}

const CONNECT_MS = 1000

function isOpen(host: string, port: number): Promise<boolean> {
  if (!host) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS })
    const end = (isConnected: boolean) => {
      socket.destroy()
      resolve(isConnected)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}
