/** A real directory server (Debian's slapd) on loopback, empty except for its base; deleted with its folder. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Attribute, Change, Client } from 'ldapts'

const exec = promisify(execFile)

const SLAPD = '/usr/sbin/slapd'
const TOP = 'dc=example,dc=org'
const MANAGER = { dn: `cn=manager,${TOP}`, password: 'manager words' }
const SERVICE = { dn: `cn=service,${TOP}`, password: 'service words' }
const DEADLINE_MS = 20_000

export const BASE = `ou=people,${TOP}`
export const GROUP_BASE = `ou=groups,${TOP}`
/** The only branch that anonymous users can read. */
export const PUBLIC_BASE = `ou=public,${TOP}`

/**
 * Anonymous users see one branch only, and nobody gets more than 50 entries at a time. One deliberate weakness that
 * some servers have: a bind with a name and no password succeeds as anonymous.
 */
const configuration = (folder: string) => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
allow bind_anon_dn
pidfile ${folder}/slapd.pid
TLSCertificateFile ${folder}/certificate.pem
TLSCertificateKeyFile ${folder}/key.pem
access to attrs=userPassword by anonymous auth by * none
access to dn.subtree="${PUBLIC_BASE}" by * read
access to * by users read by * none
database mdb
maxsize 67108864
suffix "${TOP}"
rootdn "${MANAGER.dn}"
rootpw "${MANAGER.password}"
directory ${folder}/data
dbnosync
limits users size=50 size.prtotal=unlimited
`

type Attributes = Record<string, string | string[]>

export interface NewPerson {
  uid: string
  password?: string
  name?: string
  /** Null: no address. */
  mail?: string | null
}

type GroupClass = 'groupOfNames' | 'groupOfUniqueNames' | 'posixGroup'

export class TestDirectory implements AsyncDisposable {
  readonly folder: string
  readonly port: number
  readonly securePort: number
  #server: ChildProcess | null = null

  constructor(folder: string, port: number, securePort: number) {
    this.folder = folder
    this.port = port
    this.securePort = securePort
  }

  get url(): string {
    return `ldap://127.0.0.1:${this.port}`
  }

  /** For `startForge({ settings })`; without TLS, unless the test is about TLS. */
  get settings(): Record<string, string> {
    return {
      LDAP_URL: this.url,
      LDAP_BASE: BASE,
      LDAP_GROUP_BASE: GROUP_BASE,
      LDAP_BIND_DN: SERVICE.dn,
      LDAP_BIND_PASSWORD: SERVICE.password,
      LDAP_TLS: 'off',
    }
  }

  certificate(): Promise<string> {
    return readFile(join(this.folder, 'certificate.pem'), 'utf8')
  }

  async person({ uid, password, name = 'Some One', mail = `${uid}@example.org` }: NewPerson): Promise<string> {
    const dn = `uid=${uid.replace(/[,+"\\<>;=]/g, '\\$&')},${BASE}`
    const optional = { ...(mail !== null && { mail }), ...(password !== undefined && { userPassword: password }) }
    await this.add(dn, { objectClass: 'inetOrgPerson', uid, cn: name, sn: name, ...optional })
    return dn
  }

  /** Members are DNs, or uids for a posixGroup. */
  async group(cn: string, members: string[], objectClass: GroupClass = 'groupOfNames'): Promise<string> {
    const dn = `cn=${cn},${GROUP_BASE}`
    const list = {
      groupOfNames: { member: members },
      groupOfUniqueNames: { uniqueMember: members },
      posixGroup: { memberUid: members, gidNumber: '1000' },
    }
    await this.add(dn, { objectClass, cn, ...list[objectClass] })
    return dn
  }

  add(dn: string, attributes: Attributes): Promise<void> {
    const filled = Object.entries(attributes).filter(([, values]) => values.length > 0)
    return this.#asManager((client) => client.add(dn, Object.fromEntries(filled)))
  }

  /** Replaces the values of attributes; an attribute without values is removed. */
  change(dn: string, attributes: Attributes): Promise<void> {
    const changes = Object.entries(attributes).map(([type, values]) => {
      const modification = new Attribute({ type, values: [values].flat() })
      return new Change({ operation: 'replace', modification })
    })
    return this.#asManager((client) => client.modify(dn, changes))
  }

  move(dn: string, newDn: string): Promise<void> {
    return this.#asManager((client) => client.modifyDN(dn, newDn))
  }

  remove(dn: string): Promise<void> {
    return this.#asManager((client) => client.del(dn))
  }

  async start(): Promise<void> {
    const { folder, port, securePort } = this
    const addresses = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${securePort}/`
    this.#server = spawn(SLAPD, ['-f', join(folder, 'slapd.conf'), '-h', addresses, '-d', '0'], { stdio: 'ignore' })
    const deadline = Date.now() + DEADLINE_MS
    while (!(await answers(port))) {
      if (this.#server.exitCode !== null || Date.now() > deadline) throw new Error('slapd does not start')
      await pause(20)
    }
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server?.exitCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'close')
  }

  /** Keeps the port open and does not answer any more, like a machine that hangs. */
  async freeze(): Promise<void> {
    this.#server!.kill('SIGSTOP')
    // Its threads stop one after the other; a running one would still answer.
    while (!(await areStopped(this.#server!.pid!))) await pause(5)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  async #asManager(work: (client: Client) => Promise<void>): Promise<void> {
    await using client = new Client({ url: this.url })
    await client.bind(MANAGER.dn, MANAGER.password)
    await work(client)
  }
}

export async function startDirectory(): Promise<TestDirectory> {
  if (!existsSync(SLAPD)) throw new Error("install Debian's slapd to run this test")
  const folder = await mkdtemp(join(tmpdir(), 'mortise-directory-'))
  const [port, securePort] = await freePorts()
  const directory = new TestDirectory(folder, port, securePort)
  try {
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'slapd.conf'), configuration(folder))
    await makeCertificate(folder)
    await directory.start()
    await directory.add(TOP, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' })
    const service = { objectClass: ['applicationProcess', 'simpleSecurityObject'], cn: 'service' }
    await directory.add(SERVICE.dn, { ...service, userPassword: SERVICE.password })
    for (const ou of ['people', 'groups', 'public']) {
      await directory.add(`ou=${ou},${TOP}`, { objectClass: 'organizationalUnit', ou })
    }
    return directory
  } catch (error) {
    await directory[Symbol.asyncDispose]()
    throw error
  }
}

async function makeCertificate(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  await exec('openssl', ['req', ...kind, ...files, '-subj', '/CN=directory', '-addext', 'subjectAltName=IP:127.0.0.1'])
}

async function freePorts(): Promise<[number, number]> {
  const holders = [await holdPort(), await holdPort()]
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port)
  for (const holder of holders) await once(holder.close(), 'close')
  return [ports[0]!, ports[1]!]
}

/** Below the range of ephemeral ports: no other process takes it while the directory is down. */
async function holdPort(): Promise<Server> {
  for (;;) {
    const holder = createServer().listen(randomInt(20_000, 30_000), '127.0.0.1')
    const isOurs = await once(holder, 'listening').then(
      () => true,
      () => false,
    )
    if (isOurs) return holder
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function areStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`)
  const states = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/stat`, 'latin1')))
  return states.every((state) => /\) T /.test(state))
}
