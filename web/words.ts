const SHORT = /\b(?:api|ci|css|dns|html|http|https|id|ip|ldap|lfs|oauth|rsa|smtp|ssh|ssl|tls|ttl|ui|url|urls|uuid)\b/g

/** An API name as readable text: `api_url` is "API URL". */
export function sentence(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replace(SHORT, (word) => (word === 'oauth' ? 'OAuth' : word === 'urls' ? 'URLs' : word.toUpperCase()))
  return words[0]!.toUpperCase() + words.slice(1)
}
