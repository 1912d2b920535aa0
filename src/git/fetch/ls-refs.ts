/** Answers `ls-refs` of protocol 2 without a process. A poll needs nothing else, and it is half of a clone. */
import { HIDDEN } from '../refs/namespaces.ts'
import { FLUSH, pktLine, PktLineDecoder, type Packet } from '../protocol/pkt-line.ts'
import { peelRefs, readRefs, type StoredRef } from '../refs/ref-files.ts'
import { headOf } from '../storage/repositories.ts'

/** Null if the request is another one, or if git must answer it. Throws BadPktLine if the request is not valid. */
export async function lsRefs(dir: string, request: Buffer, hideRefs: readonly string[] = []): Promise<Buffer | null> {
  const input = optionsOf(request)
  const refs = input && (await readRefs(dir))
  const head = refs && (await headOf(dir))
  if (!head) return null
  const hidden = [...HIDDEN, ...hideRefs].map((space) => `${space}/`)
  const isRequested = (name: string) =>
    input.prefixes.length === 0 || input.prefixes.some((prefix) => name.startsWith(prefix))
  const isShown = ({ name }: StoredRef) => isRequested(name) && !hidden.some((space) => `${name}/`.startsWith(space))
  const shown = refs.filter(isShown)
  const lines = (input.peel ? await peelRefs(dir, shown) : shown).map(
    ({ name, id, peeled }) => `${id} ${name}${input.peel && peeled ? ` peeled:${peeled}` : ''}`,
  )
  const headLine = isRequested('HEAD') ? headLineOf(`refs/heads/${head}`, refs, input) : null
  return Buffer.concat([...(headLine ? [headLine] : []), ...lines].map((line) => pktLine(`${line}\n`)).concat(FLUSH))
}

interface Options {
  peel: boolean
  symrefs: boolean
  unborn: boolean
  readonly prefixes: string[]
}

/** Like git, names a branch without a commit only to clients that understand such a line. */
function headLineOf(target: string, refs: readonly StoredRef[], { symrefs, unborn }: Options): string | null {
  const born = refs.find(({ name }) => name === target)
  const symref = symrefs ? ` symref-target:${target}` : ''
  if (born) return `${born.id} HEAD${symref}`
  return unborn && symrefs ? `unborn HEAD${symref}` : null
}

/** Null: not an `ls-refs` request, or one with unknown arguments. */
function optionsOf(request: Buffer): Options | null {
  const packets = packetsOf(request)
  if (packets.pop() !== 'flush' || textOf(packets[0]) !== 'command=ls-refs') return null
  const delimiter = packets.indexOf('delim')
  const input: Options = { peel: false, symrefs: false, unborn: false, prefixes: [] }
  for (const word of delimiter < 0 ? [] : packets.slice(delimiter + 1).map(textOf)) {
    if (word === 'peel' || word === 'symrefs' || word === 'unborn') input[word] = true
    else if (word?.startsWith('ref-prefix ')) input.prefixes.push(word.slice('ref-prefix '.length))
    else return null
  }
  return input
}

const textOf = (packet: Packet | undefined) => (Buffer.isBuffer(packet) ? packet.toString().replace(/\n$/, '') : null)

function packetsOf(request: Buffer): Packet[] {
  const decoder = new PktLineDecoder()
  decoder.push(request)
  const packets: Packet[] = []
  for (let packet = decoder.next(); packet !== null; packet = decoder.next()) packets.push(packet)
  decoder.end()
  return packets
}
