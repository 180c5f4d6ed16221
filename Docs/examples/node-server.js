// A Node server that stalls: each request for /report computes for 800 ms in its handler, synchronously.
const http = require('node:http')

function computeReport() {
  const end = performance.now() + 800
  let sum = 0
  while (performance.now() < end) sum += Math.sqrt(sum + 1)
  return sum
}

const server = http.createServer((request, response) => {
  response.end(request.url === '/report' ? `${computeReport()}\n` : 'try /report\n')
})

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`ready ${process.pid} http://127.0.0.1:${server.address().port}/report`)
})
