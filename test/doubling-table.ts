/**
 * Each exported function that takes a text, with the longest text that the product passes to it. A new function needs a
 * row: how it is called, in which thread it runs, or why no user text reaches it.
 */
import { Masker, PrefixMasker } from '../src/ci/agent/masking.ts'
import { parseExpression, patternIn } from '../src/ci/config/expressions.ts'
import { filling } from '../src/ci/config/inputs.ts'
import { expand } from '../src/ci/config/variables.ts'
import { resolvePlain } from '../src/ci/config/yaml.ts'
import { absoluteImages } from '../src/features/integrations/messages/absolute-images.ts'
import { absoluteReferences } from '../src/features/planning/issues/absolute-references.ts'
import { bareHost, isListable } from '../src/lib/net/address-list.ts'
import { isPublicAddress, localNetworkOf, networkOf, plainAddress } from '../src/lib/net/addresses.ts'
import { feedMoment } from '../src/lib/text/atom.ts'
import { closingReferences } from '../src/lib/text/closing.ts'
import { parseCodeOwners } from '../src/features/repository/code-owners/parsing.ts'
import { isDate, toDate, toMoment } from '../src/lib/time/dates.ts'
import { parseDuration } from '../src/lib/time/duration.ts'
import { isOfDomain } from '../src/features/identity/sign-up/email-domains.ts'
import { loadEmoji } from '../src/lib/text/emoji.ts'
import { disposition } from '../src/lib/net/file-headers.ts'
import { alternatives, globOf, matchesPart, matchesSegments, segmentOf } from '../src/lib/text/globs.ts'
import { sniffImage } from '../src/lib/files/image.ts'
import { languageOf } from '../src/lib/text/languages.ts'
import { readPointer } from '../src/lib/files/lfs-pointer.ts'
import { lineChanges } from '../src/lib/text/line-changes.ts'
import { escapeHtml, isOutside, isSafeAddress, isSafePicture } from '../src/lib/markdown/html.ts'
import { markedLanguage } from '../src/lib/markdown/marked-code.ts'
import { slugOf } from '../src/lib/markdown/slugs.ts'
import { withoutSecrets } from '../src/lib/net/masked-url.ts'
import { sniffMedia } from '../src/lib/files/media.ts'
import { parseNaturalDate } from '../src/features/planning/quick-actions/natural-date.ts'
import { nestParams, parseParams } from '../src/api/params.ts'
import * as paths from '../src/lib/files/paths.ts'
import { looksLikePgpBlock, parsePgpPublicKey } from '../src/features/identity/gpg-keys/pgp-key.ts'
import { codeSpans, linesOf } from '../src/lib/text/prose.ts'
import { splitQuickActions } from '../src/lib/text/quick-actions.ts'
import { readRange } from '../src/lib/net/ranges.ts'
import { mayRefer, referenceOfAddress, scanReferences } from '../src/lib/text/references.ts'
import { digestOf, digestOfPresented, sameSecret } from '../src/lib/crypto/secrets.ts'
import { decodeSegments, encodeSegments } from '../src/lib/text/segments.ts'
import { parseSshPublicKey, splitFields } from '../src/lib/crypto/ssh-key.ts'
import { sshSignerOf } from '../src/features/repository/signatures/ssh-signature.ts'
import { suggestionsIn } from '../src/features/merge-requests/suggestions/parsing.ts'
import { taskCompletion, taskItems, toggledTasks } from '../src/lib/text/tasks.ts'
import { addressOfKey, trackerKeysIn } from '../src/lib/text/tracker-keys.ts'
import { trimEnds, withoutSlashes } from '../src/lib/text/trimming.ts'
import { moveUploadAddresses, uploadSecrets } from '../src/features/planning/issues/upload-addresses.ts'
import { isWebAddress } from '../src/lib/net/web-address.ts'
import { findPaths } from '../web/pages/project/find_file/fuzzy.ts'
import { drawGraph, shortened } from '../web/pages/project/pipelines/graph.ts'
import { unifiedDiff } from '../web/pages/project/wikis/line-diff.ts'
import { keepLast, readLog } from '../web/pages/project/jobs/[job]/log.ts'
import { movedTo, rawIn } from '../web/moved.ts'
import { layOut } from '../web/pages/project/network/network.ts'
import { queryText, withQuery } from '../web/query.ts'
import { repeated, between, type Hostile } from './hostile-texts.ts'

export interface Row {
  /** Characters. */
  readonly limit: number
  run(text: string): unknown
  /** In addition to the texts for all functions. */
  readonly more?: readonly Hostile[]
}

const [TEXT, LONG] = [16 * 1024, 1024 * 1024]
/** For a URL with its query; the limit of Node for a request head. */
const ADDRESS = 16 * 1024
/** For a description, a comment, a commit message; and for one header line. */
const short = (run: (text: string) => unknown): Row => ({ limit: TEXT, run })
const small = (run: (text: string) => unknown): Row => ({ limit: 64 * 1024, run })
const long = (run: (text: string) => unknown): Row => ({ limit: LONG, run })

const findEmoji = await loadEmoji()
const bytes = (text: string) => Buffer.from(text)
const half = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)] as const
/** A step counter like that of glob callers. */
const counter = () => {
  let steps = 2_000_000
  return () => {
    if (--steps < 0) throw new Error('too many steps')
  }
}
/** Half of the text is the pattern, the other half is matched with it. */
const globbed = (text: string) => {
  const [pattern, path] = half(text)
  return globOf(pattern)(path, counter())
}

/** Each line is a heading of one page. */
const slugged = (text: string) => {
  const slugs = new Map<string, number>()
  return text.split('\n').map((line) => slugOf(line, slugs))
}

const BASE = 'https://forge.example'

export const ROWS: Readonly<Record<string, Row>> = {
  'src/ci/config/expressions.ts parseExpression': { limit: 10_000, run: parseExpression },
  'src/ci/config/expressions.ts patternIn': long(patternIn),
  'src/ci/config/inputs.ts filling': long((text) => filling(text, new Map(), [])),
  'src/ci/config/variables.ts expand': short((text) => expand(text, () => '$A b')),
  'src/ci/config/yaml.ts resolvePlain': long(resolvePlain),
  'src/features/integrations/messages/absolute-images.ts absoluteImages': long((text) =>
    absoluteImages(text, { host: BASE, project: BASE }),
  ),
  'src/features/planning/issues/absolute-references.ts absoluteReferences': long((text) =>
    absoluteReferences(text, { namespace: 'a', path: 'a/b' }),
  ),
  'src/lib/net/address-list.ts bareHost': short(bareHost),
  'src/lib/net/address-list.ts isListable': short(isListable),
  'src/lib/net/addresses.ts isPublicAddress': short(isPublicAddress),
  'src/lib/net/addresses.ts plainAddress': short(plainAddress),
  'src/lib/net/addresses.ts localNetworkOf': short(localNetworkOf),
  'src/lib/net/addresses.ts networkOf': short(networkOf),
  'src/lib/text/atom.ts feedMoment': short(feedMoment),
  'src/lib/text/closing.ts closingReferences': long((text) => closingReferences(text, BASE)),
  'src/features/repository/code-owners/parsing.ts parseCodeOwners': { limit: 256 * 1024, run: parseCodeOwners },
  'src/lib/time/dates.ts toDate': short(toDate),
  'src/lib/time/dates.ts isDate': short(isDate),
  'src/lib/time/dates.ts toMoment': short(toMoment),
  'src/lib/time/duration.ts parseDuration': short(parseDuration),
  'src/features/identity/sign-up/email-domains.ts isOfDomain': short((text) => isOfDomain(text, [text])),
  'src/lib/text/emoji.ts findEmoji': short(findEmoji),
  'src/lib/net/file-headers.ts disposition': short((text) => disposition('inline', text)),
  'src/lib/text/globs.ts segmentOf': { limit: 4096, run: segmentOf, more: [repeated('[a'), repeated('[a-z]*')] },
  'src/lib/text/globs.ts matchesSegments': {
    limit: 4096,
    run: (text) => matchesSegments(text.split('/').map(segmentOf), text.split('/'), counter()),
  },
  'src/lib/text/globs.ts matchesPart': {
    limit: 4096,
    run: (text) => {
      const segment = segmentOf(`*${text}`)
      return segment.kind === 'any' || matchesPart(segment, text, counter())
    },
  },
  'src/lib/text/globs.ts alternatives': { limit: 4096, run: alternatives, more: [repeated('{a,'), repeated('{,}')] },
  'src/lib/text/globs.ts globOf': {
    limit: 4096,
    run: globbed,
    more: [repeated('*[a]'), repeated('?'), repeated('**/a/')],
  },
  'src/lib/files/image.ts sniffImage': long((text) => sniffImage(bytes(text))),
  'src/lib/text/languages.ts languageOf': short(languageOf),
  'src/lib/files/lfs-pointer.ts readPointer': long((text) => readPointer(bytes(text))),
  'src/lib/text/line-changes.ts lineChanges': small((text) => lineChanges(bytes(text), bytes(`b\n${text}c`))),
  'src/lib/markdown/html.ts isSafeAddress': short(isSafeAddress),
  'src/lib/markdown/html.ts isSafePicture': short(isSafePicture),
  'src/lib/markdown/html.ts escapeHtml': { limit: LONG / 2, run: escapeHtml },
  'src/lib/markdown/html.ts isOutside': short(isOutside),
  'src/lib/markdown/marked-code.ts markedLanguage': short(markedLanguage),
  'src/lib/markdown/slugs.ts slugOf': small(slugged),
  'src/lib/net/masked-url.ts withoutSecrets': short(withoutSecrets),
  'src/lib/files/media.ts sniffMedia': long((text) => sniffMedia(bytes(text))),
  'src/features/planning/quick-actions/natural-date.ts parseNaturalDate': short((text) =>
    parseNaturalDate(text, '2026-11-18'),
  ),
  'src/api/params.ts parseParams': long(parseParams),
  'src/api/params.ts nestParams': short((text) => nestParams(text.split('&').map((name) => [name, name]))),
  'src/lib/files/paths.ts isPath': short(paths.isPath),
  'src/lib/files/paths.ts isReservedAtTop': short(paths.isReservedAtTop),
  'src/lib/files/paths.ts isReservedForProject': short(paths.isReservedForProject),
  'src/lib/files/paths.ts isReservedForSubgroup': short(paths.isReservedForSubgroup),
  'src/lib/files/paths.ts projectPathFaults': short(paths.projectPathFaults),
  'src/lib/files/paths.ts pathOf': short(paths.pathOf),
  'src/features/identity/gpg-keys/pgp-key.ts looksLikePgpBlock': long(looksLikePgpBlock),
  'src/features/identity/gpg-keys/pgp-key.ts parsePgpPublicKey': {
    limit: 128 * 1024,
    run: parsePgpPublicKey,
    more: ['A', '\n', 'A:', 'A: b\n', '=', '-----'].map((piece) =>
      between(piece, '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n', '\n-----END PGP PUBLIC KEY BLOCK-----'),
    ),
  },
  'src/lib/text/prose.ts linesOf': long(linesOf),
  'src/lib/text/prose.ts codeSpans': long(codeSpans),
  'src/lib/text/quick-actions.ts splitQuickActions': long((text) => splitQuickActions(text, 'issue')),
  'src/lib/net/ranges.ts readRange': short((text) => readRange(text, 1000)),
  'src/lib/text/references.ts mayRefer': long(mayRefer),
  'src/lib/text/references.ts scanReferences': long((text) => [...scanReferences(text)]),
  'src/lib/text/references.ts referenceOfAddress': short((text) => referenceOfAddress(`${BASE}/${text}`, BASE)),
  'src/lib/crypto/secrets.ts digestOf': short(digestOf),
  'src/lib/crypto/secrets.ts digestOfPresented': short(digestOfPresented),
  'src/lib/crypto/secrets.ts sameSecret': short((text) => sameSecret(text, text)),
  'src/lib/text/segments.ts encodeSegments': short(encodeSegments),
  'src/lib/text/segments.ts decodeSegments': short(decodeSegments),
  'src/lib/crypto/ssh-key.ts parseSshPublicKey': {
    limit: TEXT,
    run: parseSshPublicKey,
    more: [between('A', 'ssh-rsa ', ''), between('A ', 'ssh-ed25519 ', ''), between(' ', 'ssh-rsa', 'a')],
  },
  'src/lib/crypto/ssh-key.ts splitFields': short((text) => splitFields(bytes(text))),
  'src/features/repository/signatures/ssh-signature.ts sshSignerOf': {
    limit: 32 * 1024,
    run: (text) => sshSignerOf(text, bytes(text), 'git'),
    more: ['A', '\n', 'A\n', '='].flatMap((piece) => [
      between(piece, '-----BEGIN SSH SIGNATURE-----\n', '\n-----END SSH SIGNATURE-----'),
      between(piece, '-----BEGIN SSH SIGNATURE-----\n', '!'),
    ]),
  },
  'src/features/merge-requests/suggestions/parsing.ts suggestionsIn': long(suggestionsIn),
  'src/lib/text/tasks.ts taskItems': long(taskItems),
  'src/lib/text/tasks.ts taskCompletion': long(taskCompletion),
  'src/lib/text/tasks.ts toggledTasks': long((text) => toggledTasks(text, text.replace('[ ]', '[x]'))),
  'src/lib/text/tracker-keys.ts trackerKeysIn': long((text) => trackerKeysIn(text, 'jira')),
  'src/lib/text/tracker-keys.ts addressOfKey': short((text) => addressOfKey({ issuesUrl: 'https://a/:id' }, text)),
  'src/lib/text/trimming.ts trimEnds': long((text) => trimEnds(text, (character) => character === ' ')),
  'src/lib/text/trimming.ts withoutSlashes': long(withoutSlashes),
  'src/features/planning/issues/upload-addresses.ts uploadSecrets': long(uploadSecrets),
  'src/features/planning/issues/upload-addresses.ts moveUploadAddresses': long((text) =>
    moveUploadAddresses(text, { from: 'a/b', to: 'c/d', secrets: new Map([['0'.repeat(32), '1'.repeat(32)]]) }),
  ),
  'src/lib/net/web-address.ts isWebAddress': short(isWebAddress),
  'web/pages/project/find_file/fuzzy.ts findPaths': {
    limit: ADDRESS,
    run: (text) => findPaths([text, 'a'.repeat(4096), 'src/lib/a.ts'], text, 100),
  },
  'web/pages/project/pipelines/graph.ts shortened': short(shortened),
  'web/pages/project/wikis/line-diff.ts unifiedDiff': long((text) => unifiedDiff(...half(text))),
  // The page shows parts of 512 KB.
  'web/pages/project/jobs/[job]/log.ts readLog': { limit: LONG / 2, run: (text) => readLog(firstLines(text, 5000)) },
  'web/pages/project/jobs/[job]/log.ts keepLast': long((text) => keepLast(text, 5000)),
  'web/moved.ts movedTo': { limit: ADDRESS, run: (text) => movedTo(text.split('/'), new URLSearchParams()) },
  'web/moved.ts rawIn': { limit: ADDRESS, run: (text) => rawIn(text.split('/')) },
  'web/query.ts queryText': short((text) => queryText({ [text]: [text] })),
  'web/query.ts withQuery': { limit: ADDRESS, run: (text) => withQuery(`/a?${text}`, { a: 'b' }) },
}

/** Near repetitions, in many lengths. */
const SECRETS = Array.from({ length: 50 }, (_, n) => `${'a'.repeat(4000 + n)}b${'a'.repeat(4000)}`)
const masker = new Masker([...SECRETS, ' ', 'a b', 'x'.repeat(5000)])
const CHUNK = 4096
/** Twice what a job prints at once. */
const LOGGED = 128 * 1024

function pushed(mask: Masker | PrefixMasker, text: string): void {
  const all = bytes(text)
  for (let at = 0; at < all.length; at += CHUNK) mask.push(all.subarray(at, at + CHUNK))
  mask.end()
}

/** Classes that read texts in chunks. */
export const STREAMS: Readonly<Record<string, Row>> = {
  'src/ci/agent/masking.ts Masker': { limit: LOGGED, run: (text) => pushed(masker, text) },
  'src/ci/agent/masking.ts PrefixMasker': {
    limit: LOGGED,
    run: (text) => new PrefixMasker(['0', ' ', '-', 'a@', '/']).push(bytes(text)),
  },
}

const firstLines = (text: string, most: number) => text.split('\n', most).join('\n')

/** Functions that take a list instead of a text; the length is that of the list. */
export const LISTS: Readonly<Record<string, { limit: number; run(length: number): unknown }>> = {
  'web/network.ts layOut, parents': {
    limit: 5000,
    run: (length) => layOut(commitsWith(length)),
  },
  'web/network.ts layOut, commits': { limit: 10_000, run: (length) => layOut(chain(length)) },
  'web/pages/project/pipelines/graph.ts drawGraph': {
    limit: 5000,
    run: (length) => drawGraph([{ name: 'a', jobs: jobsOf(length) }]),
  },
  'web/pages/project/find_file/fuzzy.ts findPaths': {
    limit: 20_000,
    run: (length) => findPaths(pathsOf(length), 'abc', 100),
  },
}

const numbered = (length: number) => Array.from({ length }, (_, n) => n)
const commitsWith = (parents: number) =>
  numbered(100).map((row) => ({ id: `c${row}`, parent_ids: numbered(parents).map((n) => `${row} ${n}`) }))
const chain = (length: number) =>
  numbered(length).map((n) => ({ id: `c${n}`, parent_ids: [`c${n + 1}`, `c${n + 50}`] }))
const pathsOf = (length: number) => numbered(length).map((n) => `a/b/${n}/c${n}`)
const jobsOf = (length: number) =>
  numbered(length).map((n) => ({
    id: n,
    name: `j${n}`,
    kind: 'job' as const,
    status: 'success' as const,
    allow_failure: false,
    duration: null,
    needs: [`j${n + 1}`, `j${n + 2}`],
    web_url: null,
  }))

/** These run in threads with a deadline, or in pieces with pauses. */
export const IN_PIECES: Readonly<Record<string, string>> = {
  'src/ci/config/compile.ts check':
    'what is long is compiled in a thread; src/ci/config/hostile.test.ts has its limits',
  'src/ci/config/compile.ts compile':
    'what is long is compiled in a thread; src/ci/config/hostile.test.ts has its limits',
  'src/ci/config/report.ts reportOn': 'compile() and check(), with what people see of them',
  'src/lib/text/junit.ts readJunit': 'what is long is read in a thread; src/lib/text/junit.test.ts has its limits',
  'src/lib/markdown/highlight.ts highlight': 'a task of the rendering threads',
  'src/lib/markdown/html.ts cleanHtml': 'a part of rendering',
  'src/lib/markdown/html.ts balance': 'a part of rendering',
  'src/lib/markdown/performing.ts isShort': 'decides whether the rendering threads are asked, by the length first',
  'src/lib/markdown/markdown.ts referencesIn': 'asks the rendering threads',
  'src/lib/markdown/markdown.ts renderMarkdown': 'asks the rendering threads',
  'src/lib/markdown/render.ts references': 'a task of the rendering threads',
  'src/lib/markdown/render.ts renderMarkdown': 'a task of the rendering threads',
  'src/lib/text/patterns.ts patternFault': 'what is not short runs in the pattern threads',
  'src/lib/text/patterns.ts finder': 'what is not short runs in the pattern threads',
  'src/lib/text/patterns.ts lastMatches': 'what is not short runs in the pattern threads',
}

const OF_A_FILE = 'a part of compile(), of one value of the file'
const OF_OURS = 'no text of a user'
const ENCODES = 'joins and encodes; nothing is looked for'
const IN_BROWSERS = 'runs in browsers alone, and sends the text on'

/** No user text, or only passed on. */
export const EXEMPT: Readonly<Record<string, string>> = {
  'src/ci/config/context.ts asMapping': OF_A_FILE,
  'src/ci/config/definition.ts circleIn': OF_A_FILE,
  'src/ci/config/definition.ts markOfJob': OF_A_FILE,
  'src/ci/config/deploying.ts readPages': OF_A_FILE,
  'src/ci/config/faults.ts faultAt': OF_OURS,
  'src/ci/config/jobs.ts readJob': OF_A_FILE,
  'src/ci/config/report.ts taskOf': 'only handed on, to a thread',
  'src/ci/config/rules.ts isChanged': OF_A_FILE,
  'src/ci/config/tree.ts markOf': OF_A_FILE,
  'src/ci/config/tree.ts put': OF_A_FILE,
  'src/ci/config/values.ts flagAt': OF_A_FILE,
  'src/ci/config/values.ts knowsKeys': OF_A_FILE,
  'src/ci/config/values.ts oneOf': OF_A_FILE,
  'src/ci/config/values.ts textAt': OF_A_FILE,
  'src/ci/config/values.ts textOrTextsAt': OF_A_FILE,
  'src/ci/config/values.ts textsAt': OF_A_FILE,
  'src/lib/crypto/event-uuid.ts eventIn': 'a header; its pattern has a fixed length',
  'src/lib/text/languages.ts sharesOf': 'names of languages that we know',
  'src/lib/text/html.ts rich': OF_OURS,
  'src/lib/async/limiter.ts limitedCaller': 'a key of a map',
  'src/lib/files/make-folder.ts makeFolder': 'a path on our disk',
  'src/lib/files/process-folder.ts makeProcessFolder': 'a path on our disk',
  'src/lib/net/page-below.ts pageBelow': ENCODES,
  'src/lib/async/process-tag.ts isElsewhere': OF_OURS,
  'src/lib/async/process-tag.ts hasMemberEnded': OF_OURS,
  'src/lib/async/process-tag.ts hasProcessEnded': OF_OURS,
  'src/lib/async/process-tag.ts noteLiving': OF_OURS,
  'src/lib/crypto/secrets.ts vault': OF_OURS,
  'src/lib/files/system-errors.ts hasCode': OF_OURS,
  'src/lib/files/tar.ts tarOf': 'a stream of files with names; nothing is looked for in them',
  'src/lib/async/mutex.ts withMutex': 'a key of a map',
  'src/lib/async/page-reads.ts oncePerPage': 'a key of a map',
  'src/lib/zip/files.ts openZipFile': 'a path on our disk',
  'web/browser.ts lint': IN_BROWSERS,
  'web/browser.ts renderMarkdown': IN_BROWSERS,
  'web/browser.ts upload': IN_BROWSERS,
  'web/commits.ts commitFiles': 'hands them to the API',
  'web/commits.ts decodeText': 'decodes a file that the API has bounded, at the speed of the decoder',
  'web/commits.ts uploadOf': 'encodes a file that the API has bounded',
  'web/fields.ts chosenFile': 'a name of a field',
  'web/fields.ts count': 'a name of a field',
  'web/fields.ts flag': 'a name of a field',
  'web/fields.ts optional': 'a name of a field',
  'web/fields.ts word': 'a name of a field',
  'web/fields.ts words': 'a name of a field',
  'web/stored-flash.ts storeFlash': IN_BROWSERS,
  'web/stored-flash.ts takeFlash': IN_BROWSERS,
  'web/messages.ts dismissedIn': 'a header; its pattern begins at a semicolon',
  'web/messages.ts messagesFor': 'patterns of administrators, each part looked for once',
  'web/outside.ts outside': 'a name of a rule',
  'web/page.ts text': 'a name of a field',
  'web/page.ts texts': 'a name of a field',
  'web/refs.ts archiveAddress': ENCODES,
  'web/refs.ts encodePath': ENCODES,
  'web/refs.ts pathOf': ENCODES,
  'web/refs.ts locationAddress': ENCODES,
  'web/refs.ts locationAt': 'hands it to the API',
  'web/refs.ts rawAddress': ENCODES,
  'web/rich.ts rich': OF_OURS,
  'web/routes.ts find': 'a map by segments',
  'web/routes.ts loadPage': OF_OURS,
  'web/routes.ts pageOf': 'a map by segments',
  'web/undo.ts doneWithLink': OF_OURS,
  'web/undo.ts undoable': OF_OURS,
  'web/words.ts sentence': 'a key of our tables',
}
