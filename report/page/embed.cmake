# cmake -DOUT=file.cpp -DFOLDER=report/page -DSTYLES=a.css -DSCRIPTS=a.js,b.js -P embed.cmake
# Joins the files of the page into C++ texts (report/page_assets.h). A file is a piece of its own,
# because a compiler may cap the length of one literal.
function(joined result names)
  set(all "")
  string(REPLACE "," ";" names "${names}")
  foreach(name IN LISTS names)
    file(READ ${FOLDER}/${name} text)
    string(APPEND all "${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

joined(style "${STYLES}")
joined(script "${SCRIPTS}")
string(SHA256 style_hash "${style}")
string(SHA256 script_hash "${script}")
file(WRITE ${OUT} "#include \"report/page_assets.h\"
namespace sonde {
const std::string_view kPageStyle = R\"page~(${style})page~\";
const std::string_view kPageScript = R\"page~(${script})page~\";
const std::string_view kPageStyleHash = \"${style_hash}\";
const std::string_view kPageScriptHash = \"${script_hash}\";
}  // namespace sonde
")
