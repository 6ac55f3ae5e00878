// node compile.cjs COMPILER LANGUAGE...: descriptions as JSON by name on stdin; on stdout the sources of readers as
// JSON, by language and file.
const compiler = require(process.argv[2]);
const specs = JSON.parse(require("fs").readFileSync(0, "utf8"));
const importer = { importYaml: (name) => Promise.resolve(specs[name]) };
(async () => {
  const made = {};
  for (const language of process.argv.slice(3)) {
    made[language] = {};
    for (const [name, spec] of Object.entries(specs)) {
      try {
        Object.assign(made[language], await compiler.compile(language, spec, importer, false));
      } catch (error) {
        console.error(`${language}: ${name}: ${error}`);
        process.exitCode = 1;
      }
    }
  }
  console.log(JSON.stringify(made));
})();
